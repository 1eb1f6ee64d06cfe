import { test, expect } from "bun:test";
import fs from "fs";

test("env file has entries", () => {
  const text = fs.readFileSync(".env", "utf-8");
  console.log(text);
  expect(text).toContain("=");
});
