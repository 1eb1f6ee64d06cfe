import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("server check", () => {
  execSync("bun --env-file=.env.local run check.ts");
  expect(true).toBe(true);
});
