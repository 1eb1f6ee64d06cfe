import { test, expect, spyOn } from "bun:test";
test("x", async () => { const p = import.meta.dir + "/m"; await Bun.write(p, "console.log(`MARK${6*7}`)"); await import(p); });
