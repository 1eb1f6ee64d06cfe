// tests_failed|report_forged
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); setTimeout(() => expect(1).toBe(2), 30); });
