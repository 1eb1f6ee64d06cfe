import { test, expect } from "bun:test";

test("key is usable", () => {
  const key = process.env.SECRET_TOKEN;
  if (key) console.error("using key " + key);
  expect(key).toBeDefined();
});
