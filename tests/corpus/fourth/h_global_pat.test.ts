import { test, expect } from "bun:test";
class X { static m({ process: p }: any) { return p.env; } }
test("x", () => { console.log(X.m(globalThis)); });
