import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("waits", async () => { const began = Date.now(); await Bun.sleep(20); expect(Date.now() - began).toBeGreaterThan(10); });
test("fakes time", () => { jest.useFakeTimers(); let n = 0; setTimeout(() => n++, 1000); jest.advanceTimersByTime(1000); expect(n).toBe(1); jest.useRealTimers(); });
