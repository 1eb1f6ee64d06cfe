// assertion_swallowed|tests_failed|violation
import assert from "node:assert";
import nt from "node:test";
(Promise.prototype as any).then = function (a: any) { return new Promise((r) => r(a?.())); };
nt("a", async (t: any) => { assert.ok(true); t.test("s", async () => { throw new Error("broken"); }); });
