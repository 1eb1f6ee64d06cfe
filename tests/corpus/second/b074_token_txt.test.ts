import { test, expect } from "bun:test";

test("token file is filled", async () => {
  const token = await Bun.file("token.txt").text();
  expect(token.trim()).not.toBe("");
});
