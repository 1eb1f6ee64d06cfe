import { expect, test } from "bun:test";

const { value: f } = Object.getOwnPropertyDescriptor(globalThis, "eval")!;

test("descriptor holds a function", () => {
  expect(f("5 - 2")).toBe(3);
});
