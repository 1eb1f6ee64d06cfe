// violation|tests_failed
import { expect, spyOn, test } from "bun:test";
spyOn(expect, "extend").mockImplementation((() => {}) as any);
expect.extend({ toBeOdd: (n: number) => ({ pass: n % 2 === 1, message: () => "odd" }) } as any);
test("is wrong", () => { (expect(2) as any).toBeOdd(); });
