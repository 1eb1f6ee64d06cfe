import { test, expect, spyOn } from "bun:test";
function g(): any { return 0, eval; }
test("x", async () => { console.log(g()("`MARK${6*7}`")); });
