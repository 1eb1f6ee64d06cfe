import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
function g(): any { return 0, fs; }
test("x", async () => { const f = g(); f.unlink(v, () => {}); await Bun.sleep(200); });
