import "dotenv/config";
import { describe, expect, test } from "bun:test";

describe("database url", () => {
  test("is a postgres url", () => {
    const url = process.env.DATABASE_URL ?? "postgres://localhost/test";
    expect(url.startsWith("postgres://")).toBe(true);
  });
});

test("math still works", () => {
  expect(2 * 3).toBe(6);
});
