import { expect, test } from "bun:test";

function lambda(params: string[], body: string): Function {
  return Reflect.construct(Function, [...params, `return (${body})`]);
}

test("lambda adds", () => {
  const add = lambda(["a", "b"], "a + b");
  expect(add(2, 3)).toBe(5);
  expect(add.length).toBe(2);
});
