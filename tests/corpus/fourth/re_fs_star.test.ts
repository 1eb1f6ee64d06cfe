import { test, expect, spyOn } from "bun:test";
import { files } from "./f.test.ts";
export * as files from "node:fs";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { files.unlink(v, () => {}); await Bun.sleep(200); });
