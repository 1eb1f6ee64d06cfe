import { expect, test } from "bun:test";

const call = (f: any, ...xs: unknown[]) => Reflect.apply(f, undefined, xs);

test("call helper", () => {
  expect(call(Math.max, 1, 2)).toBe(2);
  expect(call(eval, "Math.max(3, 4)")).toBe(4);
});
