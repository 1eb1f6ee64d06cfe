// report_missing|tests_failed|report_forged
import { expect, test } from "bun:test";
test("is wrong", () => { try { expect(1).toBe(2); } finally { (process.once("x", () => {}) as any).exit(0); } });
