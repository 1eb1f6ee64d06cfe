import { expect, test } from "bun:test";

type V = readonly [number, number];
const add = (a: V, b: V): V => [a[0] + b[0], a[1] + b[1]];

test("adds vectors", () => {
  expect(add([1, 2], [3, 4])).toEqual([4, 6]);
});
