import { test, expect } from "bun:test";
test.concurrent.each([1, 2, 3])("n %d", async (n) => { await Bun.sleep(3 * n); expect(n).toBeGreaterThan(0); }, { retry: 1 });
