// violation|tests_failed|report_forged|report_missing
import { expect, test } from "bun:test";
for (let i = 0; i < 30; ++i) Object.defineProperty(Array.prototype, i, { set() {}, get() { return undefined; }, configurable: true });
test("is wrong", () => { expect(1).toBe(2); });
