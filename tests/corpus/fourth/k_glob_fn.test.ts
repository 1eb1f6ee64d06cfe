import { test, expect, spyOn } from "bun:test";
class X { static m({ Function: F }: any) { return F("return `MARK${6*7}`")(); } }
test("x", async () => { console.log(X.m(globalThis)); });
