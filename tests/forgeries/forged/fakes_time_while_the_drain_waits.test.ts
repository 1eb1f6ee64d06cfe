// tests_failed
// timers are faked once the drain has begun, and its pauses are advanced by hand: a real timer's failure is not waited for
import { expect, jest, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); setTimeout(() => { expect(1).toBe(2); }, 100);
  setTimeout(() => { jest.useFakeTimers(); const go = () => { try { jest.advanceTimersByTime(50); } catch {} setImmediate(go); }; setImmediate(go); }, 1); });
