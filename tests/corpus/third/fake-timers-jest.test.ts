import { afterEach, beforeEach, expect, jest, test } from "bun:test";

function debounce<A extends unknown[]>(fn: (...a: A) => void, ms: number) {
  let t: ReturnType<typeof setTimeout> | undefined;
  return (...a: A) => {
    clearTimeout(t);
    t = setTimeout(() => fn(...a), ms);
  };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("debounce only fires the last call", () => {
  const fn = jest.fn();
  const d = debounce(fn, 100);
  d("a");
  d("b");
  jest.advanceTimersByTime(99);
  expect(fn).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(fn.mock.calls).toEqual([["b"]]);
});
