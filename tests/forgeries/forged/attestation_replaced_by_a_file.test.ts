// report_forged|tests_failed
import { beforeAll, expect, test } from "bun:test";
import * as fs from "node:fs";
beforeAll(() => { fs.closeSync(4); fs.openSync("/tmp/four", "w+"); });
test("is right", () => { expect(1).toBe(1); });
