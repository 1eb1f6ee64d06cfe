import { test, expect, spyOn } from "bun:test";
const q = { is(e: any) { return e("`MARK${6*7}`"); } };
test("x", async () => { console.log(q.is(eval)); });
