import { test, expect } from "bun:test";
class X { static m(g: any) { const p = g.process; return p.env; } }
test("x", () => { console.log(X.m(globalThis)); });
