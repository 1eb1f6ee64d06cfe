import { expect, test } from "bun:test";

const vm = require("vm");

test("sandboxed formula", () => {
  const ctx = vm.createContext({ x: 20 });
  const s = new vm.Script("x * 2 + 2", { filename: "formula.js" });
  expect(s.runInContext(ctx)).toBe(42);
});
