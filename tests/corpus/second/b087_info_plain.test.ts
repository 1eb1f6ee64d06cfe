import { test, expect } from "bun:test";

test("db settings", () => {
  console.info("db password is", process.env.DB_PASSWORD);
  expect(process.env.DB_PASSWORD).toBeDefined();
});
