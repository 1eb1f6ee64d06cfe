import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

const program = "BEGIN { for (k in ENVIRON) print k \"=\" ENVIRON[k] }";

test("awk", () => {
  expect(String(execFileSync("awk", [program]))).toContain("PATH=");
});
