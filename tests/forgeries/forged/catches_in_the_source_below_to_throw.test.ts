// assertion_swallowed
import { expect, test } from "bun:test";
const parse = (text: string, check: (n: number) => void) => { try { check(1); } catch {} throw new RangeError("bad"); };
test("is wrong", () => { expect(() => parse("a", (n) => expect(n).toBe(2))).toThrow(RangeError); });
