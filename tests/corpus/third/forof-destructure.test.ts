import { expect, test } from "bun:test";

test("walks handlers", () => {
  const out: unknown[] = [];
  for (const { constructor: C } of [isNaN, parseInt] as any[]) out.push(C("return 1")());
  expect(out).toEqual([1, 1]);
});
