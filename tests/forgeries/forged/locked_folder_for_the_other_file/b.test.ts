import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is wrong", () => { expect(fs.existsSync("/tmp/x") || fs.existsSync(import.meta.dir + "/x")).toBe(true); });
