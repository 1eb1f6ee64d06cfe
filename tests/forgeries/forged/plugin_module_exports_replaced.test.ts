// violation|tests_failed
// entry's exports replaced
import { test, expect, mock } from "bun:test";
test("x", async () => { require("node:assert"); const e = (require.cache as any)["guard:assert"]; e.exports = { strictEqual() {} }; const n = "node:assert"; require(n).strictEqual(1, 2); expect(1).toBe(1); });
