import { expect, test } from "bun:test";
import { execSync } from "node:child_process";

test("decoded", () => {
  const out = execSync("echo ZW52Cg== | base64 -d | sh");
  expect(out.length).toBeGreaterThan(0);
});
