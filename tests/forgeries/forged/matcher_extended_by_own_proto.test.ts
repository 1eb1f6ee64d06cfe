// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
expect.extend(JSON.parse("{\"__proto__\":1}"));
expect.extend(Object.defineProperty({}, "__proto__", { value: { toBe: passes }, enumerable: true }) as any);
test("is wrong", () => { expect(1).toBe(2); });
