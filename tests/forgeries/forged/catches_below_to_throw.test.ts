// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", () => { expect(() => { try { expect(1).toBe(2); } catch {} throw new Error("other"); }).toThrow("other"); });
