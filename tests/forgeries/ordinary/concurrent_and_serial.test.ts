// Concurrent tests that wait for one another, beside serial ones, with hooks and rows.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
let before = 0;
beforeEach(() => { ++before; });
afterEach(() => {});
describe.concurrent("together", () => {
  for (let i = 0; i < 8; ++i) test(`waits ${i}`, async () => { await Bun.sleep((8 - i) * 2); expect(i).toBeLessThan(8); });
  test.serial("alone", async () => { await Bun.sleep(1); expect(before).toBeGreaterThan(0); });
});
test.concurrent("first", async () => { await Bun.sleep(5); expect(1).toBe(1); });
test.concurrent("second", async () => { await expect(Promise.reject(new Error("no"))).rejects.toThrow("no"); });
test.concurrent.each([1, 2, 3])("row %d", async (n) => { await Bun.sleep(n); expect(n).toBeGreaterThan(0); });
test.concurrent("sync", () => { expect(() => { throw new TypeError("bad"); }).toThrow(TypeError); });
test.serial("serial", () => { expect(2).toBe(2); });
test.concurrent("retries", async () => { await Bun.sleep(1); expect(3).toBe(3); }, { retry: 2 });
