import { expect, test } from "bun:test";

function compute(formula: string): number {
  return eval(formula);
}

test.each([["1 + 1", 2], ["2 * 21", 42]])("%s", (src, want) => {
  expect(compute(src as string)).toBe(want as number);
});
