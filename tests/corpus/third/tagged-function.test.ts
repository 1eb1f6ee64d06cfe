import { expect, test } from "bun:test";

test("tag returns a function", () => {
  const f = (Function as any)`return 12 * 12`;
  expect(f()).toBe(144);
});
