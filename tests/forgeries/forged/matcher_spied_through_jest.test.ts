// violation|tests_failed
import { expect, jest, test } from "bun:test";
jest.spyOn(Object.getPrototypeOf(Object.getPrototypeOf(expect(0))), "toBe").mockImplementation((() => {}) as any);
test("is wrong", () => { expect(1).toBe(2); });
