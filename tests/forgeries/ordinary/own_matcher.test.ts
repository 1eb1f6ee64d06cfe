import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
expect.extend({ toBeEvenly(received: number) { return { pass: received % 2 === 0, message: () => "odd" }; } } as any);
test("is even", () => { (expect(2) as any).toBeEvenly(); expect(() => (expect(3) as any).toBeEvenly()).toThrow(); });
