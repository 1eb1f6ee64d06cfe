import { expect, test } from "bun:test";

test("client falls back when there is no key", () => {
  const key = process.env.ANTHROPIC_API_KEY ?? "missing";
  expect(typeof key).toBe("string");
});
