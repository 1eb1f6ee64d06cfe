// tests_failed|violation
// node:assert's loose deepEqual asks Bun.deepEquals, which a test may replace (import form)
import { test } from "bun:test";
import assert from "node:assert";
test("zero", () => { 
  Bun.deepEquals = () => true;
  assert.deepEqual({ a: 1 }, { a: 2 });
});
