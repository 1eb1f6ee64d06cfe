import { expect, mock, test } from "bun:test";

const isFn = (v: unknown): v is Function => typeof v === "function";

test("functions are functions", () => {
  const f = mock((n: number) => n + 1);
  expect(f).toBeInstanceOf(Function);
  expect(isFn(f)).toBe(true);
  expect(isFn({})).toBe(false);
  expect((() => {}) instanceof Function).toBe(true);
  expect({ cb: f }).toEqual({ cb: expect.any(Function) });
});
