import { expect, test } from "bun:test";

const { exit, exitCode } = process;

test("watchdog is armed", () => {
  const t = setTimeout(exit, 2_000, 0);
  expect(t).toBeDefined();
  expect(exitCode ?? 0).toBe(0);
});
