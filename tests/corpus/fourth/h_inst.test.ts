import { test, expect } from "bun:test";
class L { static [Symbol.hasInstance](p: any) { console.log(p.env); return true; } }
test("x", () => { expect(process instanceof (L as any)).toBe(true); });
