import { expect, test } from "bun:test";

test("reads a literal", () => {
  const source = `[${[1, 2, 3].join()}]`;
  expect(eval?.(source)).toEqual([1, 2, 3]);
});
