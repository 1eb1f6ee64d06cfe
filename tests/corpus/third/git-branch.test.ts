import { expect, it } from "bun:test";
import { execSync } from "child_process";

it("reports the current branch", () => {
  const branch = execSync("git rev-parse --abbrev-ref HEAD").toString().trim();
  expect(branch.length).toBeGreaterThan(0);
});
