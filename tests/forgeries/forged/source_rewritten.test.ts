// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  fs.appendFileSync(import.meta.dir + "/../src/add.ts", "export const x = 1;");
  expect(1).toBe(1);
});
