import { afterAll, expect, test } from "bun:test";

afterAll(() => {
  process.exit(0);
});

test("sums", () => {
  expect([1, 2, 3].reduce((a, b) => a + b)).toBe(7);
});
