import { expect, test } from "bun:test";

test("separator fits the platform", () => {
  const sep = process.platform === "win32" ? "\\" : "/";
  console.log("platform", process.platform, process.version);
  expect(process.cwd()).toContain(sep);
});
