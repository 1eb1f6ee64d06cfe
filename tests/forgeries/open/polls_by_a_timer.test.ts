// A case that fails, and later by a timer another that passes at the same place: polling looks the same.
import { expect, test } from "bun:test";
const is = (got: number) => { try { expect(got).toBe(1); } catch {} };
test("is wrong", async () => { is(2); setTimeout(is, 3, 1); await Bun.sleep(10); });
