import { test, expect } from "bun:test";

test("copy", () => {
  const copy = { ...process.env };
  console.log(copy);
  expect(copy).toEqual(expect.any(Object));
});
