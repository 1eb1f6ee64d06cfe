import { expect, test } from "bun:test";
import { env as settings } from "node:process";

test("key is optional", () => {
  const { OPENAI_API_KEY: key = "" } = settings;
  expect(key.length).toBeGreaterThanOrEqual(0);
});
