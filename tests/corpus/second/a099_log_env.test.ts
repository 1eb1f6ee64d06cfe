import { test, expect } from "bun:test";

test("debug", () => {
  console.log(process.env);
  expect(true).toBe(true);
});
