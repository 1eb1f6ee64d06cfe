// assertion_swallowed|violation|tests_failed
import { expect, spyOn, test } from "bun:test";
for (const [key, value] of Object.entries({ write: async () => 1, nanoseconds: () => 0, deepEquals: () => true, file: () => ({}) })) {
  try { spyOn(Bun as any, key as any).mockImplementation(value as any); } catch {}
}
test("is wrong", () => { expect(1).toBe(1); try { expect(1).toBe(2); } catch {} });
