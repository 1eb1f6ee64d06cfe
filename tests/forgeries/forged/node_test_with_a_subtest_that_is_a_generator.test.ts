// nothing_asserted|violation|tests_failed
import assert from "node:assert";
import nt from "node:test";
nt("a", async (t: any) => { assert.ok(true); await t.test("s", function* () { throw new Error("broken"); }); });
