import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

describe("configuration file", () => {
  test("names a database", () => {
    const text = readFileSync(".env", "utf8");
    expect(text).toMatch(/^DATABASE_URL=/m);
  });
});
