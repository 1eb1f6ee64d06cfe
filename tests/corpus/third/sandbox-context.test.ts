import { expect, test } from "bun:test";
import vm from "node:vm";

test("script sees only its context", () => {
  expect(vm.runInNewContext("a + b", { a: 2, b: 3 })).toBe(5);
});
