// report_forged|violation|tests_failed|crashed
import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is wrong", () => { const folder = "/" + fs.readdirSync("/").find((name) => name.startsWith("pro")) + "/self/"; const fd = fs.openSync(folder + "mem", "r+"); fs.closeSync(fd); expect(1).toBe(2); });
