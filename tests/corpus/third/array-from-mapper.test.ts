import { expect, test } from "bun:test";

const mapper = Reflect.get(globalThis, `e${"va"}l`);

test("from set", () => {
  expect(Array.from(new Set(["1+1", "2+2"]), mapper)).toEqual([2, 4]);
});
