// A loop over cases with turns of the event loop in between: polling looks the same.
import { expect, test } from "bun:test";
test("is wrong", async () => { for (const n of [2, 1]) { try { expect(n).toBe(1); } catch {} await Bun.sleep(1); } });
