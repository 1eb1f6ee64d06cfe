// violation|tests_failed
import { afterAll, expect, test } from "bun:test";
const values = Array.prototype[Symbol.iterator];
Array.prototype[Symbol.iterator] = function* () {} as any;
afterAll(() => { Array.prototype[Symbol.iterator] = values; });
test("is wrong", () => { expect(1).toBe(2); });
