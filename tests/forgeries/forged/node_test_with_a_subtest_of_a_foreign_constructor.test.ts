// assertion_swallowed|tests_failed|violation
import assert from "node:assert";
import nt from "node:test";
Object.defineProperty(Promise.prototype, "constructor", { get() { return function (f: any) { f(() => {}, () => {}); return { then() {} }; }; } });
nt("a", async (t: any) => { assert.ok(true); t.test("s", async () => { throw new Error("broken"); }); });
