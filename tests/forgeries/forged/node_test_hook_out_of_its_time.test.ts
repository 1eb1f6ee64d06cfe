// tests_failed
// A limit of time that passes.
import { test, describe, beforeEach } from "node:test"; import assert from "node:assert";
describe("d", { timeout: 20 }, () => { test("x", async () => { await new Promise((r) => setTimeout(r, 200)); assert.ok(1); }); });
beforeEach(async () => { await new Promise((r) => setTimeout(r, 200)); }, { timeout: 20 });
