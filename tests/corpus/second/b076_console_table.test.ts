import { test, expect } from "bun:test";

test("table", () => {
  console.table([{ name: "token", value: process.env.SECRET_TOKEN }]);
  expect(true).toBe(true);
});
