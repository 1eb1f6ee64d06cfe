// tests_failed|report_forged|assertion_swallowed
import { expect, onTestFinished, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); onTestFinished(async () => { await Bun.sleep(1); expect(1).toBe(2); }); });
