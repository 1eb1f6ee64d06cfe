// tests_failed|violation
// assert.throws with a class
import { test } from "bun:test"; import assert from "node:assert";
test("zero", () => { 
  Object.defineProperty(TypeError, Symbol.hasInstance, { value: () => true, configurable: true });
  assert.throws(() => { throw new Error("x"); }, TypeError);
  delete (TypeError as any)[Symbol.hasInstance];
});
