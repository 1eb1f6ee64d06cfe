import { test, expect, spyOn } from "bun:test";
class L { static [Symbol.hasInstance](p: any) { console.log(p('return `MARK${6*7}`')()); return true; } }
test("x", async () => { void (Function instanceof (L as any)); expect(Function instanceof (L as any)).toBe(true); });
