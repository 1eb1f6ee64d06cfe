// unawaited|assertion_swallowed|tests_failed|unawaited_result|violation
import assert from "node:assert";
import nt from "node:test";
nt("a", (t: any) => { assert.ok(true); t.test("s", async () => { await new Promise((r) => setTimeout(r, 30)); assert.equal(1, 2); }); });
