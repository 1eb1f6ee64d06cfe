import { test, expect } from "bun:test";
import { $ } from "bun";

test("compose file gets its variables", async () => {
  const text = await $`cat .env | grep -v '^#'`.text();
  expect(text.trim().split("\n").length).toBeGreaterThan(0);
});

test("bad JSON throws", () => {
  expect(() => JSON.parse("{")).toThrow(SyntaxError);
});
