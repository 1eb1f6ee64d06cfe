import { test, expect, spyOn } from "bun:test";
test("x", async () => { const k = Object.keys({ constructor: 1 })[0]; console.log((isNaN as any)[k]("return `MARK${6*7}`")()); });
