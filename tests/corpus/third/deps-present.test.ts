import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  execSync("npm install left-pad", { stdio: "inherit" });
});

test("left-pad is there", () => {
  expect(require("left-pad")("1", 3)).toBe("  1");
});
