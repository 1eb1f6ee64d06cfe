import { expect, test } from "bun:test";
import fs from "node:fs";
import path from "node:path";

const procFile = (...parts: string[]) => path.join("/proc", ...parts);

test("environment block ends with a NUL", () => {
  const file = path.join("/proc", "self", "environ");
  const block = fs.readFileSync(file);
  expect(block.length).toBeGreaterThan(0);
  expect(block[block.length - 1]).toBe(0);
  expect(procFile("uptime")).toBe("/proc/uptime");
});
