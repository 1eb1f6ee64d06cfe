import { expect, test } from "bun:test";
import { $ } from "bun";

test("types are in order", async () => {
  const result = await $`NODE_ENV=test bunx --bun tsc@latest --noEmit -p tsconfig.json`.nothrow().quiet();
  expect(result.exitCode).toBe(0);
});

test("bad JSON throws", () => {
  expect(() => JSON.parse("{")).toThrow(SyntaxError);
});
