import { expect, test } from "bun:test";

test("all expressions give the same answer", () => {
  const results = ["40 + 2", "6 * 7", "84 / 2"].map(eval);
  expect(results).toEqual([42, 42, 42]);
});
