import { test, expect } from "bun:test";
import { runInNewContext } from "node:vm";

test("plugin runs in its own context", () => {
  const ctx = { total: 0 };
  runInNewContext("total = [1, 2, 3].reduce((a, b) => a + b)", ctx);
  expect(ctx.total).toBe(6);
});
