import { test, expect, spyOn } from "bun:test";
test("x", async () => { const ext = Object.keys({ mjs: 1 })[0]; const p = `${import.meta.dir}/m.${ext}`; await Bun.write(p, "console.log(`MARK${6*7}`)"); await import(p); });
