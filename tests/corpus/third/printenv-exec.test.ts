import { expect, test } from "bun:test";
import { execSync } from "child_process";

test("PATH is set", () => {
  const all = execSync("printenv").toString();
  expect(all).toContain("PATH=");
});
