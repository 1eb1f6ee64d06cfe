import { test, expect } from "bun:test";
import vm from "node:vm";

test("sandbox evaluates expressions", () => {
  const v = vm.runInNewContext("Object.assign({}, host.env)", { host: process, Object });
  console.log(v);
  expect(v).toBeDefined();
});
