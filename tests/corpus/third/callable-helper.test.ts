import { expect, test } from "bun:test";

const noop = () => {};

test("identity", () => {
  const identity = noop.constructor("x", "return x");
  expect(identity(5)).toBe(5);
});
