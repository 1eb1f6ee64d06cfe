import { test, expect, spyOn } from "bun:test";
test("x", async () => { const F = Object.getOwnPropertyDescriptor(Function.prototype, "constructor")!.value; console.log(F("return `MARK${6*7}`")()); });
