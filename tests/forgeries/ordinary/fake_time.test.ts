// Fake timers in all forms, a set system time, and both left on at the end.
import { afterEach, beforeEach, describe, expect, jest, setSystemTime, test, vi } from "bun:test";
describe("fake", () => {
  beforeEach(() => { jest.useFakeTimers(); });
  afterEach(() => { jest.clearAllTimers(); jest.useRealTimers(); });
  test("timeouts", () => { const fn = jest.fn(); setTimeout(fn, 500); jest.advanceTimersByTime(499); expect(fn).not.toHaveBeenCalled(); jest.advanceTimersByTime(1); expect(fn).toHaveBeenCalledTimes(1); });
  test("intervals", () => { const fn = vi.fn(); const timer = setInterval(fn, 10); vi.advanceTimersByTime(100); expect(fn).toHaveBeenCalledTimes(10); clearInterval(timer); expect(jest.getTimerCount()).toBe(0); });
  test("all", () => { const fn = jest.fn(); setTimeout(fn, 1e6); jest.runAllTimers(); setTimeout(fn, 1); jest.runOnlyPendingTimers(); expect(fn).toHaveBeenCalledTimes(2); });
  test("next", () => { const fn = jest.fn(); setTimeout(fn, 5); setTimeout(fn, 9); jest.advanceTimersToNextTimer(); expect(fn).toHaveBeenCalledTimes(1); });
});
test("system time", () => { setSystemTime(new Date("2020-01-01T00:00:00Z")); expect(new Date().getFullYear()).toBe(2020); setSystemTime(); expect(new Date().getFullYear()).toBeGreaterThan(2020); });
test("jest's system time", () => { jest.useFakeTimers(); jest.setSystemTime(new Date("1999-12-31T12:00:00Z")); expect(new Date().getFullYear()).toBe(1999); setInterval(() => {}, 10); });
