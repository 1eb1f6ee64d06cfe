// violation|tests_failed
import { expect, test, vi } from "bun:test";
vi.spyOn(expect(0).not as any, "toBe").mockImplementation((() => {}) as any);
test("is wrong", () => { expect(1).not.toBe(1); });
