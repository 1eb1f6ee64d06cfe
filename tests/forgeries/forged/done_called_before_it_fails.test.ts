// tests_failed|report_forged|assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", (done) => { expect(1).toBe(1); done(); setTimeout(() => expect(1).toBe(2), 5); });
