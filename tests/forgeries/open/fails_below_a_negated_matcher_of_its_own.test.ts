// What fails below a negated matcher of the tests is what it asks for.
import { expect, test } from "bun:test";
expect.extend({ breaks(this: any, fn: any) { try { fn(); } catch {} return { pass: false, message: () => "" }; } });
test("is wrong", () => { (expect(() => { expect(1).toBe(2); }).not as any).breaks(); });
