// tests_failed
// A limit of time that passes.
import { test } from "node:test";
import assert from "node:assert";
test("one", { timeout: 20 }, async () => { await new Promise(r => setTimeout(r, 300)); assert.ok(true); });
