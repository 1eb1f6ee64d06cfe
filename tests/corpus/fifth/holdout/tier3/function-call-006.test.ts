import { expect, test } from "bun:test";
import { toPredicate } from "../src/predicate";

test("predicate source runs", () => {
  const pred = Function("row", `return ${toPredicate("age > 3")}`);
  expect([{ age: 2 }, { age: 5 }].filter((r) => pred(r))).toHaveLength(1);
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
