import "dotenv/config";
import { test, expect } from "bun:test";

test("database url configured", () => {
  expect(process.env.DATABASE_URL).toStartWith("postgres://");
});
