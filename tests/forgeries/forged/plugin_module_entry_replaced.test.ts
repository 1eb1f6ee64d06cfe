// violation|tests_failed
// entry of the plug-in's module in require.cache replaced
import { test, expect, mock } from "bun:test";
test("x", async () => { require("node:assert"); const e = { id: "guard:assert", exports: { default: { strictEqual() {} }, strictEqual() {} }, loaded: true }; (require.cache as any)["guard:assert"] = e; const n = "node:assert"; require(n).strictEqual(1, 2); expect(1).toBe(1); });
