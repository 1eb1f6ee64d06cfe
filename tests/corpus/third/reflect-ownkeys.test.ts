import { expect, test } from "bun:test";

test("ownKeys sees symbols and hidden keys", () => {
  const tag = Symbol("tag");
  const o = Object.defineProperty({ a: 1, [tag]: 2 }, "hidden", { value: 3, enumerable: false });
  expect(Reflect.ownKeys(o)).toEqual(["a", "hidden", tag]);
  expect(Object.getOwnPropertyNames(o)).toEqual(["a", "hidden"]);
  expect(Object.getOwnPropertyDescriptor(o, "hidden")?.writable).toBe(false);
});
