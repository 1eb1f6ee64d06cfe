// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  fs.writeFileSync(import.meta.path, "");
  expect(1).toBe(1);
});
