import { expect, test } from "bun:test";
import { execSync } from "child_process";

function currentBranch(): string {
  return execSync("git rev-parse --abbrev-ref HEAD").toString().trim();
}

test("branch has a name", () => {
  expect(currentBranch().length).toBeGreaterThan(0);
});

test("branch name has no blanks", () => {
  expect(currentBranch()).not.toMatch(/\s/);
});
