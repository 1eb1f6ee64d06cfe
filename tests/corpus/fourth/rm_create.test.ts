import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { const f = Object.create(fs); f.unlink(v, () => {}); await Bun.sleep(200); });
