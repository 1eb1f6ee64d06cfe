import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

test("counts the lines of this file", () => {
  const text = readFileSync(import.meta.path, "utf8");
  const lines = text.trimEnd().split("\n");
  expect(lines[0]).toStartWith("import { expect");
  expect(lines.length).toBeGreaterThan(5);
});
