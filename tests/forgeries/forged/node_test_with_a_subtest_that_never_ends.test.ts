// unawaited|assertion_swallowed|tests_failed|unawaited_result|violation|nothing_asserted
import assert from "node:assert";
import nt from "node:test";
nt("a", (t: any) => { assert.ok(true); t.test("s", () => new Promise(() => {})); });
