// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
let n = 0;
expect.extend(new Proxy({}, { ownKeys: () => [n++ ? "toBe" : "toBf", "toBe"], getOwnPropertyDescriptor: () => ({ value: passes, enumerable: true, configurable: true }), get: () => passes }) as any);
test("is wrong", () => { expect(1).toBe(2); });
