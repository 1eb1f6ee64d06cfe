// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
(Object.prototype as any).toBe = passes;
expect.extend({ other: passes } as any);
delete (Object.prototype as any).toBe;
test("is wrong", () => { expect(1).toBe(2); });
