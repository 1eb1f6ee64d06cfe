import { test, expect } from "bun:test";

test("raw write", () => {
  const n = console.write(`${Bun.env.SECRET_TOKEN}\n`);
  expect(n).toBeGreaterThan(0);
});
