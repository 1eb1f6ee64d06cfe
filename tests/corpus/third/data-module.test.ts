import { expect, test } from "bun:test";

test("loads an inline module", async () => {
  const mod = await import("data:text/javascript,export const n = 6 * 7;");
  expect(mod.n).toBe(42);
});
