import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  execSync("npm install --no-save left-pad@1.3.0", { stdio: "inherit" });
});

test("left-pad pads", async () => {
  const { default: leftPad } = await import("left-pad" as string);
  expect(leftPad("7", 3, "0")).toBe("007");
});
