// assertion_swallowed
// match and doesNotMatch of an instance of assert.Assert are not counted: a failure of theirs is caught unseen
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
const a = new (assert as any).Assert({ strict: true });
test("is wrong", () => { expect(1).toBe(1); try { a.match("a", /b/); } catch {} });
