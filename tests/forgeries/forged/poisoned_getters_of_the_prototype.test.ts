// violation|tests_failed
import { expect, test } from "bun:test";
for (const key of ["failed", "passed", "swallowed", "over", "failures", "test", "assertions"]) Object.defineProperty(Object.prototype, key, { get: () => 0, set() {}, configurable: true });
test("is wrong", () => { expect(1).toBe(2); });
