import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

const csrfToken = () => randomBytes(16).toString("hex");

test("tokens are unique", () => {
  const tokens = new Set(Array.from({ length: 50 }, csrfToken));
  expect(tokens.size).toBe(50);
});
