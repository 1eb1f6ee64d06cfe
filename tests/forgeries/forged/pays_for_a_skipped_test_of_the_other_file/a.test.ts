// all_skipped|no_tests|nothing_asserted|report_forged
// with run.isolation=run
import { expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); }, { repeats: 5 });
