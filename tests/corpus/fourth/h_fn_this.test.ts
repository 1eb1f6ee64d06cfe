import { test, expect } from "bun:test";
test("x", () => { const g = Function("return this")(); const p = g.process; console.log(p.env); });
