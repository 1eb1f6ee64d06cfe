import { test, expect, spyOn } from "bun:test";
test("x", async () => { console.log(Function<any>("return `MARK${6*7}`")()); });
