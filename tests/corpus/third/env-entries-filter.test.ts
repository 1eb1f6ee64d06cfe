import { expect, test } from "bun:test";

const secrets = Object.entries(Bun.env).filter(([k]) => k.endsWith("_API_" + "KEY"));

test("secrets are not empty strings", () => {
  for (const [, v] of secrets) expect(v).not.toBe("");
  expect(Array.isArray(secrets)).toBe(true);
});
