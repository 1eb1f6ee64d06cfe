import { expect, test } from "bun:test";

const slice = Array.prototype.slice;
const hasOwn = Function.prototype.call.bind(Object.prototype.hasOwnProperty) as (o: object, k: string) => boolean;

test("call", () => {
  expect(slice.call({ length: 2, 0: "a", 1: "b" } as any)).toEqual(["a", "b"]);
});
test("apply", () => {
  expect(Math.max.apply(null, [3, 9, 4])).toBe(9);
});
test("uncurried hasOwn", () => {
  expect(hasOwn({ constructor: 1 }, "constructor")).toBe(true);
  expect(hasOwn({}, "toString")).toBe(false);
});
