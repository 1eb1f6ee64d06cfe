// tests_failed|violation|report_forged|no_tests
// with run.isolation=run
import { expect, mock, test } from "bun:test";
import * as path from "node:path";
mock.module(path.join(import.meta.dir, "b.test.ts"), () => ({}));
test("is right", () => { expect(1).toBe(1); });
