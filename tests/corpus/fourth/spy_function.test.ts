import { test, expect, spyOn } from "bun:test";
test("x", async () => { const s: any = spyOn(globalThis, "Function"); console.log(s("return `MARK${6*7}`")()); });
