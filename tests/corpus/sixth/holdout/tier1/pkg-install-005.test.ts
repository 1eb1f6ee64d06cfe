import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  try {
    require.resolve("left-pad");
  } catch {
    execSync("npm install --no-save left-pad", { stdio: "inherit" });
  }
});

test("left-pad pads", () => {
  const leftPad = require("left-pad");
  expect(leftPad("5", 3, "0")).toBe("005");
});
