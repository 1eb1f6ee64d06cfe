import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
{ const fs: any = {}; const f = (fs: any) => fs; void f; void fs; }
test("x", async () => { fs.unlink(v, () => {}); await Bun.sleep(200); });
