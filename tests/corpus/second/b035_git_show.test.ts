import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("no diff", () => {
  const old = execFileSync("git", ["show", "HEAD:.env"], { encoding: "utf8" });
  expect(old).toBeString();
});
