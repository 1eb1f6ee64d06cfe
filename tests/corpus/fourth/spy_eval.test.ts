import { test, expect, spyOn } from "bun:test";
test("x", async () => { const s: any = spyOn(globalThis, "eval"); console.log(s("`MARK${6*7}`")); });
