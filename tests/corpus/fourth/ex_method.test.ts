import { test, expect, spyOn } from "bun:test";
test("x", async () => { process.cwd = function (this: any) { return this.exit(77); } as any; process.cwd(); });
