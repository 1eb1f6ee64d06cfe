import { expect, test } from "bun:test";

test("comparator is called", () => {
  const rows = ["globalThis.sorted = true", "globalThis.sorted = true"];
  rows.sort(eval as any);
  expect((globalThis as any).sorted).toBe(true);
});
