import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("python tools", () => {
  execSync("pip install pyyaml");
  expect(true).toBe(true);
});
