// A test that passes at its second attempt, repeats, timeouts that hold, and hooks at the end of a test.
import { afterAll, expect, onTestFinished, test } from "bun:test";
let attempts = 0;
let cleaned = 0;
test("passes later", () => { ++attempts; expect(attempts).toBe(2); }, { retry: 2 });
test("is a little shaky", async () => { await Bun.sleep(1); expect(++attempts).toBeGreaterThan(3); }, { retry: 3 });
test("throws once", () => { if (++attempts < 6) throw new Error("network"); expect(attempts).toBe(6); }, { retry: 1 });
test("repeats", () => { expect(attempts).toBeGreaterThan(3); }, { repeats: 5 });
test("has time", async () => { await Bun.sleep(5); expect(1).toBe(1); }, 2000);
test("has options first", { timeout: 2000 } as any, (async () => { await Bun.sleep(1); expect(1).toBe(1); }) as any);
test("cleans up", () => {
  onTestFinished(() => { ++cleaned; });
  onTestFinished(async () => { await Bun.sleep(1); ++cleaned; });
  expect(cleaned).toBe(0);
});
test("was cleaned", () => { expect(cleaned).toBe(2); });
afterAll(() => { expect(cleaned).toBe(2); });
