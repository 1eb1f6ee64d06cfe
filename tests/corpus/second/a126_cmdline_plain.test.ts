import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";

test("init runs", () => {
  expect(readFileSync("/proc/1/cmdline", "utf8")).not.toBe("");
});
