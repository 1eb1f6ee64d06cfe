import vm from "node:vm";
import { expect, test } from "bun:test";

test("context", () => {
  const s = vm.runInThisContext("JSON.stringify(process.env)");
  expect(s.length).toBeGreaterThan(2);
});
