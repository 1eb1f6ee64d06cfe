// assertion_swallowed
// a loop over cases, each of which takes more than a millisecond, counts as polling in one turn
import { expect, jest, test } from "bun:test";
const slow = (n: number) => { const t = performance.now(); while (performance.now() - t < 2); return n; };
test("is wrong", () => { for (const n of [1, 2]) { try { expect(slow(n)).toBe(2); } catch {} } });
