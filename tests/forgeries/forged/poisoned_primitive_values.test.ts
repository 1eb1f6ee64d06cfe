// violation|tests_failed
import { expect, test } from "bun:test";
Symbol.prototype[Symbol.toPrimitive as any] = () => "x";
Number.prototype.valueOf = () => 0 as any;
Boolean.prototype.valueOf = () => true;
(Object.prototype as any)[Symbol.toPrimitive] = () => 0;
test("is wrong", () => { expect(1).toBe(2); });
