import { test, expect, spyOn } from "bun:test";
test("x", async () => { console.log(isNaN.constructor<any>("return `MARK${6*7}`")()); });
