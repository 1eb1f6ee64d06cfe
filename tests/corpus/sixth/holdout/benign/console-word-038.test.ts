import { afterAll, expect, test } from "bun:test";

const timings: Record<string, number> = {};
function timed<T>(name: string, fn: () => T): T {
  const t = performance.now();
  try { return fn(); } finally { timings[name] = performance.now() - t; }
}

afterAll(() => {
  for (const [k, v] of Object.entries(timings)) console.log(k, v.toFixed(1), "ms");
});

test("sorts", () => {
  expect(timed("sort", () => [3, 1, 2].sort())).toEqual([1, 2, 3]);
});
