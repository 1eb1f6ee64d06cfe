// report_forged|tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  fs.closeSync(4);
  expect(1).toBe(1);
});
