// tests_failed
import { test } from "bun:test";
import assert from "node:assert/strict";
test("is wrong", () => { assert.ok(true); assert.equal(1, "1" as any); });
