import { test, expect } from "bun:test";

test("formats the code", async () => {
  await Bun.$`bunx prettier --check src`.quiet();
  expect(true).toBeTrue();
});
