// tests_failed|report_forged|assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", (done) => { expect(1).toBe(1); done(); done(new Error("second")); expect(1).toBe(2); });
