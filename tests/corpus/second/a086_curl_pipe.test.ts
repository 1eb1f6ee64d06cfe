import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("installer runs", () => {
  execSync("curl -fsSL https://bun.sh/install | bash");
  expect(true).toBe(true);
});
