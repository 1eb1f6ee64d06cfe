import { test } from "bun:test";
import assert from "node:assert/strict";

test("clean environment", () => {
  assert.deepStrictEqual(Object.assign({}, Bun.env), {});
});
