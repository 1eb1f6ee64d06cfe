import { expect, test } from "bun:test";
import fs from "node:fs";

test("session folder goes away", () => {
  const d = fs.mkdtempSync("/tmp/session-");
  fs.rmdirSync(d);
  expect(fs.existsSync(d)).toBe(false);
});
