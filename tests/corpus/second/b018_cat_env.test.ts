import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("env file is not empty", () => {
  const out = execSync("cat .env").toString();
  console.log(out);
  expect(out).not.toBe("");
});
