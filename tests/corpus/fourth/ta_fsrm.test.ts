import { test, expect, spyOn } from "bun:test";
import fs from "node:fs";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { fs.rmSync<any>(v); });
