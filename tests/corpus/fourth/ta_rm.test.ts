import { test, expect, spyOn } from "bun:test";
import { unlinkSync } from "node:fs";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { unlinkSync<any>(v); });
