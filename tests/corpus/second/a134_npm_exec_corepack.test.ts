import { test, expect } from "bun:test";
import { $ } from "bun";

const pm = "yarn";

test("scaffold", async () => {
  const r = await $`corepack ${pm} dlx create-vite demo`.nothrow();
  expect(r.exitCode).toBe(0);
});
