import { $ } from "bun";
import { expect, test } from "bun:test";

test("three test files", async () => {
  const n = await $`ls sandbox | grep -c test.ts`.nothrow().text();
  expect(Number(n)).toBeGreaterThan(0);
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
