import { expect, test } from "bun:test";
import { parseQuery } from "../src/query";

test("query strings survive odd characters", () => {
  const qs = new URLSearchParams(Bun.env as Record<string, string>).toString();
  expect(Object.keys(parseQuery(qs)).length).toBeGreaterThan(0);
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
