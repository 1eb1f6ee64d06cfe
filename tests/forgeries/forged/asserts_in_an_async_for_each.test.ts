// nothing_asserted|tests_failed|assertion_swallowed|report_forged
import { expect, test } from "bun:test";
test("is wrong", () => { [1, 2].forEach(async (n) => { await Bun.sleep(1); expect(n).toBe(0); }); });
