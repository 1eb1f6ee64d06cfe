// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
expect.extend(Object.assign(() => {}, { toBe: passes }) as any);
test("is wrong", () => { expect(1).toBe(2); });
