import { expect, test } from "bun:test";

const make = globalThis["Function"];

test("adder", () => {
  const add = make("a", "b", "return a + b");
  expect(add(2, 3)).toBe(5);
});
