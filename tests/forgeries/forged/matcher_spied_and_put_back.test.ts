// violation|tests_failed
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
let spy: any;
beforeEach(() => { spy = spyOn(Object.getPrototypeOf(expect(0)), "toBe").mockImplementation((() => {}) as any); });
afterEach(() => spy.mockRestore());
test("is wrong", () => { expect(1).toBe(2); });
