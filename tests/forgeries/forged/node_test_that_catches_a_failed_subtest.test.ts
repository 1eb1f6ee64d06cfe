// assertion_swallowed
import assert from "node:assert";
import nt from "node:test";
nt("a", async (t: any) => { assert.ok(true); try { await t.test("s", () => { throw new Error("broken"); }); } catch {} });
