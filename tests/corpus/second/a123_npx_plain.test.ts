import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("builds the site", () => {
  execSync("npx vite build", { stdio: "inherit" });
  expect(true).toBe(true);
});
