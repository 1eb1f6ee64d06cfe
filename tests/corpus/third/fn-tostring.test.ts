import { expect, test } from "bun:test";

const argNames = (f: Function) =>
  Function.prototype.toString
    .call(f)
    .match(/\(([^)]*)\)/)![1]
    .split(",")
    .map((s) => s.trim())
    .filter(Boolean);

test("argument names", () => {
  expect(argNames(function (first: any, second: any) { return [first, second]; })).toEqual(["first", "second"]);
  expect(argNames(() => 1)).toEqual([]);
});
