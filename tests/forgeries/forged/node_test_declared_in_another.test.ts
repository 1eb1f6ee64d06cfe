// tests_failed
import assert from "node:assert";
import nt from "node:test";
nt("a", async () => { assert.ok(true); nt("inner", () => { assert.equal(1, 2); }); });
