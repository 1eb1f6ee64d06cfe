// assertion_swallowed
// assertions that fail with an error of the test's own; a later assert.throws of the same error forgives all of them
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
const E = new Error("no");
const ok = (v: boolean) => { try { assert.ok(v, E); } catch {} };
test("is wrong", () => { ok(1 + 1 === 3); assert.throws(() => { throw E; }); });
