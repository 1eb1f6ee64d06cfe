import { compileFunction as fnFrom } from "node:vm";
import { expect, test } from "bun:test";

const cache = new Map<string, Function>();
const getFn = (s: string) => cache.get(s) ?? cache.set(s, fnFrom(`return ${s}`, ["$"])).get(s)!;

test("formulas are cached", () => {
  expect(getFn("$.a + $.b")({ a: 1, b: 2 })).toBe(3);
  expect(cache.size).toBe(1);
});
