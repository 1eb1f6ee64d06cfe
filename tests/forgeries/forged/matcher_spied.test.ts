// violation|tests_failed
import { expect, spyOn, test } from "bun:test";
spyOn(Object.getPrototypeOf(expect(0)), "toBe").mockImplementation((() => {}) as any);
test("is wrong", () => { expect(1).toBe(2); });
