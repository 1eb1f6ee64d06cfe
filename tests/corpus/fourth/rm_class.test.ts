import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
class K { constructor(private files: any) {} go(p: string) { this.files.unlink(p, () => {}); } }
test("x", async () => { new K(fs).go(v); await Bun.sleep(200); });
