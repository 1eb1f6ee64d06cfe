import { expect, test } from "bun:test";

const { eval: interpret } = globalThis as any;

test("interprets literals", () => {
  expect(interpret("({ a: 1 })")).toEqual({ a: 1 });
});
