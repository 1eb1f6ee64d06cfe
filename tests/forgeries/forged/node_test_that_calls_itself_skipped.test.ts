// expected_failures|tests_failed|violation|report_forged|assertion_swallowed|all_skipped
import assert from "node:assert";
import nt from "node:test";
nt("a", (t: any) => { assert.ok(true); t.skip(); throw new Error("broken"); });
