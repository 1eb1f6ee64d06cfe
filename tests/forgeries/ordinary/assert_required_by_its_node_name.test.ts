import { test } from "bun:test";
import { createRequire } from "node:module";
const assert = require("node:assert");
test("required", () => { assert.strictEqual(1, 1); });
test("required strictly", () => { require("node:assert/strict").deepEqual([1], [1]); });
test("called", () => { assert(true); });
test("by another require", () => { createRequire(import.meta.url)("node:assert").ok(true); });
