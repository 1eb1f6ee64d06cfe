import { expect, test } from "bun:test";

function invariant(cond: unknown, msg: string): asserts cond {
  if (!cond) {
    console.error("invariant broken:", msg);
    process.abort();
  }
}

test("invariant holds", () => {
  const ids = new Set([1, 2, 2]);
  invariant(ids.size === 3, "ids are unique");
  expect(ids.size).toBe(3);
});
