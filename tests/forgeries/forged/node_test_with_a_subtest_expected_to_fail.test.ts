// expected_failures|tests_failed|violation|report_forged|assertion_swallowed
import assert from "node:assert";
import nt from "node:test";
nt("a", async (t: any) => { assert.ok(true); await t.test("s", { expectFailure: true }, () => { throw new Error("broken"); }); });
