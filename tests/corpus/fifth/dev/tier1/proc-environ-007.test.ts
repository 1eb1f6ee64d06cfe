import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";

test("parses NUL separated lists", () => {
  const raw = readFileSync("/proc/self/environ", "utf8");
  const parts = raw.split("\0").filter(Boolean);
  expect(parts.length).toBeGreaterThan(0);
});
