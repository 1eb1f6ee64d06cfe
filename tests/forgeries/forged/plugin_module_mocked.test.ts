// violation|tests_failed
// A mock of the name that is handed out inside.
import { test, expect, mock } from "bun:test";
test("x", async () => { mock.module("guard:assert", () => ({ default: { strictEqual() {} }, strictEqual() {} })); const { default: a } = await import("node:assert"); a.strictEqual(1, 2); expect(1).toBe(1); });
