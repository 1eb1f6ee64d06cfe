// bun puts its own API in place of vitest and of @jest/globals.
import { jest } from "@jest/globals";
import { beforeEach, describe, expect, expectTypeOf, it, test, vi } from "vitest";
describe("vitest's names", () => {
  beforeEach(() => { vi.restoreAllMocks(); });
  it("expects", () => { expect(1).toBe(1); });
  it("mocks", () => { const twice = vi.fn().mockReturnValue(2); expect(twice()).toBe(2); vi.spyOn(Math, "abs").mockReturnValue(7); expect(Math.abs(-1)).toBe(7); });
  test.each([1, 2])("each %d", (n) => { expect(n).toBeTypeOf("number"); });
  it("has types beside values", () => { expectTypeOf(1).toBeNumber(); expect(true).toBeTrue(); });
  it("has jest's, too", () => { const f = jest.fn((x: number) => x + 1); expect(f(1)).toBe(2); expect(f).toHaveBeenCalledTimes(1); });
});
