import { test, expect } from "bun:test";
test("x", () => { const p: any = 1 ? (1, 2, process) : () => 1; console.log(p.env); });
