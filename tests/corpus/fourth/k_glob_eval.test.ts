import { test, expect, spyOn } from "bun:test";
class X { static m({ eval: e }: any) { return e('`MARK${6*7}`'); } }
test("x", async () => { console.log(X.m(globalThis)); });
