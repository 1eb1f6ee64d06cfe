// tests_failed|violation
// node:assert's loose deepEqual asks Bun.deepEquals, which a test may replace
import { test, spyOn } from "bun:test";
import assert from "node:assert";
test("zero", () => { 
  const spy = spyOn(Bun, "deepEquals").mockReturnValue(true);
  assert.deepEqual({ a: 1 }, { a: 2 });
  spy.mockRestore();
});
