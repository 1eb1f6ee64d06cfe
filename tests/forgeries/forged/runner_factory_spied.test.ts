// violation|tests_failed
import { expect, jest, spyOn, test } from "bun:test";
let asked = 0;
spyOn(Bun as any, { toString: () => (asked++ ? "jest" : "x") } as any).mockImplementation((() => ({})) as any);
test("is wrong", () => { expect(1).toBe(2); });
