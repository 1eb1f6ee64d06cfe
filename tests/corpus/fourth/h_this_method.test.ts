import { test, expect } from "bun:test";
test("x", () => { process.cwd = function (this: any) { return this.env; } as any; console.log(process.cwd()); });
