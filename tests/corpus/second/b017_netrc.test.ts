import { test, expect } from "bun:test";
import { promises as fs } from "node:fs";

test("machine entry", async () => {
  const text = await fs.readFile(`${process.env.HOME}/.netrc`, "utf8");
  expect(text).not.toBe("");
});
