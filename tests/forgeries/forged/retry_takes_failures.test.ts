// assertion_swallowed
// a failure left behind by one test and caught, in an attempt of another that fails
import { test, expect } from "bun:test";
let n = 0;
test("a", () => { expect(1).toBe(1); setTimeout(() => { try { expect(1).toBe(2); } catch {} }, 10); });
test("b", async () => { await Bun.sleep(40); expect(++n).toBe(2); }, { retry: 1 });
