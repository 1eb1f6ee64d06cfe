// assertion_swallowed
import assert from "node:assert";
import nt from "node:test";
nt("a", async (t: any) => { assert.ok(true); await t.test("s", async () => { await 1; assert.equal(1, 2); }).catch(() => {}); });
