// tests_failed
// timers that are made while the file loads, and cleared in the test, raise the number below which the drain does not wait
import { expect, jest, test } from "bun:test";
const many = Array.from({ length: 50 }, () => setTimeout(() => {}, 100000));
test("is wrong", () => { expect(1).toBe(1); for (const one of many) clearTimeout(one); setTimeout(() => expect(1).toBe(2), 30); });
