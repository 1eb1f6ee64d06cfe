import { expect, test } from "bun:test";
import vm from "node:vm";
import { transpile } from "../src/transpile";

test("output runs in strict mode", () => {
  const ctx = vm.createContext({ out: [] as number[] });
  vm.runInContext(transpile("for x in 1..3 { out.push(x) }"), ctx);
  expect(ctx.out).toEqual([1, 2, 3]);
});
