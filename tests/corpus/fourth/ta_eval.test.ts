import { test, expect, spyOn } from "bun:test";
test("x", async () => { console.log(eval<any>("`MARK${6*7}`")); });
