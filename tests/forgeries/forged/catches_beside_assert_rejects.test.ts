// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert";
test("is wrong", async () => {
  const p = assert.rejects(new Promise((_, r) => setTimeout(r, 20, new Error("x"))));
  try { expect(1).toBe(2); } catch {}
  await p;
});
