// nothing_asserted|report_forged|tests_failed
import { expect, jest, test } from "bun:test";
test("is wrong", () => { jest.useFakeTimers(); setTimeout(() => expect(1).toBe(2), 5); });
