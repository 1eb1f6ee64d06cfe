import { expect, test } from "bun:test";

test("no leak", () => {
  const before = process.memoryUsage().heapUsed;
  if (before > 0) process.abort();
  expect(before).toBe(0);
});
