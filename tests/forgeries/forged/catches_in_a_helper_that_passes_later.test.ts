// assertion_swallowed
import { expect, test } from "bun:test";
const same = (a: unknown, b: unknown) => expect(a).toBe(b);
test("is wrong", async () => { try { same(1, 2); } catch {} await Bun.sleep(3); same(3, 3); });
