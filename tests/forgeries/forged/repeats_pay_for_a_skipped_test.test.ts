// all_skipped|no_tests|nothing_asserted
import { expect, test } from "bun:test";
test("asserts nothing", () => {}, { repeats: 5 });
test.skip("is wrong", () => { expect(1).toBe(2); });
