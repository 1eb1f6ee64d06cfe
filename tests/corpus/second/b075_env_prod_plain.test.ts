import { test, expect } from "bun:test";
import { readFile } from "node:fs/promises";

test("production settings", async () => {
  const s = await readFile(".env.production", "utf8");
  expect(s).toContain("DB_PASSWORD");
});
