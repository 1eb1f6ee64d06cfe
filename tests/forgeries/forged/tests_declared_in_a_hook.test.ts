// tests_failed|no_tests|report_forged|nothing_asserted|all_skipped
import { beforeAll, expect, test } from "bun:test";
beforeAll(() => { try { test("is wrong", () => { expect(1).toBe(2); }); } catch {} });
test.skip("left out", () => {});
