import { expect, test } from "bun:test";

export { config as loadEnv } from "dotenv";

test("settings are loaded once", async () => {
  const me = await import(import.meta.url);
  const first = me.loadEnv();
  expect(first.parsed ?? {}).toBeObject();
});
