import { test, expect } from "bun:test";
test("x", () => { const g = Object.create(globalThis); const p = g.process; console.log(p.env); });
