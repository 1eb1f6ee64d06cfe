// assertion_swallowed
import { expect, test } from "bun:test";
expect.extend({ quietly(fn: any) { try { fn(); } catch {} return { pass: true, message: () => "" }; } } as any);
test("is wrong", () => { (expect(() => expect(1).toBe(2)) as any).quietly(); });
