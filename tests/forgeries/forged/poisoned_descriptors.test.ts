// violation|tests_failed|report_forged|report_missing
import { expect, test } from "bun:test";
Object.defineProperty = ((o: any) => o) as any;
Object.freeze = ((o: any) => o) as any;
Object.getOwnPropertyDescriptor = () => undefined;
(Object.prototype as any).get = () => 0;
(Object.prototype as any).set = () => {};
test("is wrong", () => { expect(1).toBe(2); });
