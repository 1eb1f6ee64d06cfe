import { expect, test } from "bun:test";

const picked = {
  user: process.env.SMTP_USER,
  pass: process.env.SMTP_PASS,
} as const;

test("smtp user is an address", () => {
  if (!picked.user?.includes("@")) console.table([picked]);
  expect(Object.keys(picked)).toHaveLength(2);
});
