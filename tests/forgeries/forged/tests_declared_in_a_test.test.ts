// tests_failed|no_tests|nothing_asserted|report_forged
import { expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); try { test("is wrong", () => { expect(1).toBe(2); }); } catch {} });
