// assertion_swallowed|violation|tests_failed
import { expect, spyOn, test } from "bun:test";
for (const [key, value] of Object.entries({ write: async () => 1, file: () => ({}), nanoseconds: () => 0 })) { try { (Bun as any)[key] = value; } catch {} try { spyOn(Bun as any, key as any).mockImplementation(value as any); } catch {} }
test("is wrong", () => { expect(1).toBe(1); try { expect(1).toBe(2); } catch {} });
