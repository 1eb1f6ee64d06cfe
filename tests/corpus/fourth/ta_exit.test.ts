import { test, expect, spyOn } from "bun:test";
test("x", async () => { process.exit<any>(77); });
