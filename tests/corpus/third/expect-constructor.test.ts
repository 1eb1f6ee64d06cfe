import { expect, test } from "bun:test";

const { constructor: F } = expect as any;

test("predicate from text", () => {
  const even = F("n", "return n % 2 === 0");
  expect(even(4)).toBe(true);
});
