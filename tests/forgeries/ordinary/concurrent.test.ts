import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
for (let i = 0; i < 8; i++) test.concurrent(`side by side ${i}`, async () => { await Bun.sleep(5); expect(i).toBeLessThan(8); });
