// violation|tests_failed|report_incomplete
import { beforeAll, expect, test } from "bun:test";
import * as fs from "node:fs";
beforeAll(() => { const kept = fs.openSync("/dev/null", "w"); fs.closeSync(2); fs.openSync("/dev/null", "w"); });
test("is wrong", () => { expect(1).toBe(2); });
