import { test, expect } from "bun:test";

test("variables have upper-case names", () => {
  const names = Object.getOwnPropertyNames(process.env);
  expect(names.some((n) => n === n.toUpperCase())).toBe(true);
});
