// tests_failed|report_forged
import { afterEach, expect, test } from "bun:test";
afterEach(() => Promise.reject(undefined));
test("is right", () => { expect(1).toBe(1); });
