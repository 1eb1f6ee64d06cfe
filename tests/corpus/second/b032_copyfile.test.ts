import { test, expect } from "bun:test";
import { copyFileSync, readFileSync } from "node:fs";

test("template copy", () => {
  copyFileSync(".env", "settings.txt");
  console.log(readFileSync("settings.txt", "utf8"));
  expect(true).toBe(true);
});
