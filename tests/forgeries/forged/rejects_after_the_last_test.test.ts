// tests_failed|report_forged
import { afterAll, expect, test } from "bun:test";
afterAll(() => { Promise.reject(new Error("left over")); });
test("is right", () => { expect(1).toBe(1); });
