// node:assert by default, by name, by namespace, strict, by require, with its rejects and throws.
import { createRequire } from "node:module";
import assert, { deepStrictEqual, equal, match, notStrictEqual, ok, rejects, strictEqual, throws } from "node:assert";
import * as everything from "node:assert";
import short from "assert";
import strict from "node:assert/strict";
import shortStrict, { deepEqual } from "assert/strict";
import { strict as named, AssertionError } from "node:assert";
import { expect, test } from "bun:test";
const required = require("assert");
const created = createRequire(import.meta.url)("node:assert");
test("functions", () => { assert(true); assert.ok(1); ok("x"); assert.equal(1, 1); equal("1", 1); strictEqual(1, 1); notStrictEqual(1, 2); });
test("objects", () => { deepStrictEqual({ a: [1] }, { a: [1] }); assert.deepEqual({ a: 1 }, { a: 1 }); assert.notDeepStrictEqual({ a: 1 }, { a: 2 }); deepEqual([1], [1]); });
test("texts", () => { match("abc", /b/); assert.doesNotMatch("abc", /d/); assert.ifError(null); });
test("throws", async () => {
  throws(() => { throw new TypeError("bad"); }, TypeError);
  throws(() => { throw new TypeError("bad"); }, /bad/);
  throws(() => { throw new TypeError("bad"); }, { name: "TypeError", message: "bad" });
  throws(() => { throw new TypeError("bad"); }, (error: Error) => error.message === "bad");
  throws(() => strictEqual(1, 2), AssertionError);
  assert.doesNotThrow(() => {});
  await rejects(Promise.reject(new Error("no")), /no/);
  await rejects(async () => { throw new Error("no"); });
  await assert.doesNotReject(async () => 1);
});
test("strict", () => { strict.equal(1, 1); strict(true); shortStrict.deepEqual({ a: 1 }, { a: 1 }); named.equal(1, 1); named(1); assert.strict.equal(1, 1); assert.throws(() => strict.equal(1, "1" as never)); });
test("all others", () => { everything.equal(1, 1); everything.default.ok(1); everything.strict.ok(1); short(1); required.equal(1, 1); required(1); created.strictEqual(1, 1); });
test("its own error", () => {
  const error = new AssertionError({ actual: 1, expected: 2, operator: "strictEqual" });
  expect(error.code).toBe("ERR_ASSERTION");
  expect(error).toBeInstanceOf(assert.AssertionError);
  expect(() => assert.fail("on purpose")).toThrow(AssertionError);
  throws(() => assert.fail("on purpose"), /on purpose/);
});
