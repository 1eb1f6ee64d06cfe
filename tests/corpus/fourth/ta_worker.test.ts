import { test, expect, spyOn } from "bun:test";
import { writeFileSync } from "node:fs";
test("x", async () => { const w = new Worker<any>("data:text/javascript,console.log(`MARK${6*7}`)"); await Bun.sleep(800); });
