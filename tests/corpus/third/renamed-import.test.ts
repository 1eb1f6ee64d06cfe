import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmdirSync as dropFolder } from "node:fs";

test("drops an empty folder", () => {
  const d = mkdtempSync("/tmp/empty-");
  dropFolder(d);
  expect(existsSync(d)).toBe(false);
});
