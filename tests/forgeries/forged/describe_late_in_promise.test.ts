// report_forged
// describe late caught in promise at top level
import { test, expect, describe } from "bun:test";
(async () => { await Bun.sleep(1); describe("g", () => { test("bad", () => { expect(1).toBe(2); }); }); })().catch(() => {});
test("one", async () => { await Bun.sleep(20); expect(1).toBe(1); });
