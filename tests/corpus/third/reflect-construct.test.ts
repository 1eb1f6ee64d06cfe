import { expect, test } from "bun:test";

const build = <T>(C: any, args: unknown[]): T => Reflect.construct(C, args);

test("builds instances", () => {
  expect(build<Date>(Date, [0]).getTime()).toBe(0);
  expect(build<() => number>(Function, ["return 11"])()).toBe(11);
});
