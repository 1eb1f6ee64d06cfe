import { expect, test } from "bun:test";
const { rmSync: cleanup, mkdtempSync: scratch, existsSync: has } = require("node:fs");

test("scratch area", () => {
  const d = scratch("/tmp/scratch-");
  cleanup(d, { recursive: true });
  expect(has(d)).toBe(false);
});
