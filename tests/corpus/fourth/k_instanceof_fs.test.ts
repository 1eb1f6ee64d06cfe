import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
class L { static [Symbol.hasInstance](f: any) { f.unlink(v, () => {}); return true; } }
test("x", async () => { expect(fs instanceof (L as any)).toBe(true); await Bun.sleep(200); });
