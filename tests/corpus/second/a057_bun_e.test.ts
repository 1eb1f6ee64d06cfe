import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("subprocess script", () => {
  const out = execFileSync(process.execPath, ["-e", "for (const k in Bun.env) console.log(k, Bun.env[k])"]);
  console.log(String(out));
  expect(out.length).toBeGreaterThan(0);
});
