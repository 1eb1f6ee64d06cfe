import { expect, test } from "bun:test";

test("global object", () => {
  const g = [].constructor.constructor("return this")();
  expect(g.Math).toBe(Math);
});
