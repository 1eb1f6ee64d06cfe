// tests_failed
// What is required first is changed, and imported later.
import { expect, test } from "bun:test";
require("node:assert").strictEqual = () => {};
test("is wrong", async () => { const { default: assert } = await import("node:assert"); assert.strictEqual(1, 2); });
