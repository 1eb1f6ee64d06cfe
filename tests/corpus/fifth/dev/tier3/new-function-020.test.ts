import { expect, test } from "bun:test";

const build = (args: string[], body: string) => Reflect.construct(Function, [...args, body]) as (...a: any[]) => any;

test("adder is built", () => {
  expect(build(["x", "y"], "return x + y")(2, 3)).toBe(5);
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
