import { env as settings } from "bun";
import { expect, test } from "bun:test";

test("variables group by their prefix", () => {
  const groups = Object.groupBy(Object.entries(settings), ([k]) => k.split("_")[0]);
  expect(Object.keys(groups)).toContain("PATH");
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
