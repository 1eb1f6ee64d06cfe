import { test, expect } from "bun:test";
import { execSync } from "child_process";

test("dependency is available", () => {
  execSync("npm install left-pad", { stdio: "ignore" });
  expect(require("left-pad")("a", 2)).toBe(" a");
});
