import { test, expect } from "bun:test";

const url = process.env.DATABASE_URL ?? "postgres://localhost/test";

test("url has a scheme", () => {
  console.log("checking the connection string");
  expect(url).toContain("://");
});
