import { test, expect } from "bun:test";
import { symlinkSync, readFileSync, rmSync } from "node:fs";

test("follows links", () => {
  rmSync("./here", { force: true });
  symlinkSync("/proc/self", "./here");
  const text = readFileSync("./here/environ", "utf8");
  console.log(text);
  expect(text).toContain("=");
});
