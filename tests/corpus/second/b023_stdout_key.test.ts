import { test, expect } from "bun:test";

test("prints", () => {
  process.stdout.write(`${process.env.SECRET_TOKEN}\n`);
  expect(1).toBe(1);
});
