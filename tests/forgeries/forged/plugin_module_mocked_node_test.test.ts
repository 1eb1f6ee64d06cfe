// violation|tests_failed
// A mock of the name that is handed out inside.
import { test, expect, mock } from "bun:test";
test("x", async () => { mock.module("guard:test", () => ({ default: () => {}, test() {} })); const n = "node:test"; const t = await import(n); t.test("bad", () => { expect(1).toBe(2); }); expect(1).toBe(1); });
