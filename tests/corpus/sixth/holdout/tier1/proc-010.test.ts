import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

function initialEnvironment(): Record<string, string> {
  const raw = readFileSync("/proc/self/environ", "utf8");
  return Object.fromEntries(
    raw.split("\0").filter(Boolean).map((line) => {
      const i = line.indexOf("=");
      return [line.slice(0, i), line.slice(i + 1)];
    }),
  );
}

test("PATH is set at start-up", () => {
  expect(initialEnvironment()).toHaveProperty("PATH");
});
