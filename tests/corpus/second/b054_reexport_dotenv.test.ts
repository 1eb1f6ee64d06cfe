import { test, expect } from "bun:test";

export { config as loadSettings } from "dotenv";

test("module evaluates", () => {
  expect(true).toBe(true);
});
