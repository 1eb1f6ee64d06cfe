// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert";
test("is wrong", () => { assert.throws(() => { throw new Error("e"); }, (e) => { try { expect(1).toBe(2); } catch {} return true; }); });
