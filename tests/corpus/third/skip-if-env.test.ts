import { expect, test } from "bun:test";

const hasKey = "ANTHROPIC_API_KEY" in process.env || Object.hasOwn(Bun.env, "OPENAI_API_KEY");

test.skipIf(!hasKey)("live", () => {
  expect(hasKey).toBe(true);
});

test("always", () => {
  expect(typeof hasKey).toBe("boolean");
});
