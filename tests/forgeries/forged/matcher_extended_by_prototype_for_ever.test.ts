// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
(Object.prototype as any).toBe = passes;
expect.extend({} as any);
expect.extend({ constructor: passes } as any);
test("is wrong", () => { expect(1).toBe(2); });
