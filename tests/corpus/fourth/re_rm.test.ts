import { test, expect, spyOn } from "bun:test";
import { clean } from "./f.test.ts";
export { unlinkSync as clean } from "node:fs";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { clean(v); });
