// nothing_asserted|tests_failed|report_forged
import { expect, test } from "bun:test";
test("is wrong", () => { setTimeout(() => expect(1).toBe(2), 20); });
