import { expect, test } from "bun:test";

test("escape in an identifier", () => {
  const f = \u0065val;
  expect(f("9 - 4")).toBe(5);
});
