// assertion_swallowed
// an assertion's error is caught, and given to a later toThrow of nothing else
import { expect, jest, test } from "bun:test";
test("is wrong", () => { let e: any; try { expect(1).toBe(2); } catch (x) { e = x; } expect(() => { throw e; }).toThrow(); });
