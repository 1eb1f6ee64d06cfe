// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", () => { expect(() => { for (const n of [1, 2, 3]) try { expect(n).toSatisfy(() => { throw "no"; }); } catch {} throw "no"; }).toThrow(); });
