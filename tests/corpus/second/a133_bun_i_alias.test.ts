import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("fixture has its dependencies", () => {
  execFileSync("bun", ["--cwd", "/tmp/fixture", "i", "--silent"]);
  expect(true).toBe(true);
});
