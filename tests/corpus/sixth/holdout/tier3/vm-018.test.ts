import { expect, test } from "bun:test";
import vm from "node:vm";

test("bundle sets a global", () => {
  const context = vm.createContext({ result: 0 });
  vm.runInContext("result = 40 + 2", context);
  expect(context.result).toBe(42);
});

test("contexts are separate", () => {
  expect(vm.isContext({})).toBe(false);
});
