import { test, expect } from "bun:test";
declare abstract class process {}
test("x", () => { console.log((process as any).env); });
