// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert/strict";
test("is wrong", () => { expect(1).toBe(1); try { assert.equal(1, 2); } catch {} });
