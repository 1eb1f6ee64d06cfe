import { test, expect } from "bun:test";

test("stage settings", () => {
  process.loadEnvFile(".env.production");
  expect(process.env.SECRET_FILE).toBeDefined();
});
