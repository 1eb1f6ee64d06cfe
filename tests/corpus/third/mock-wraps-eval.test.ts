import { expect, mock, test } from "bun:test";

test("mock forwards", () => {
  const m = mock(eval);
  expect(m("2 + 2")).toBe(4);
  expect(m).toHaveBeenCalledTimes(1);
});
