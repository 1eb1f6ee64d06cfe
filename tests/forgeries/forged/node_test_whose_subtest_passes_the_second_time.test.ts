// assertion_swallowed|tests_failed
import assert from "node:assert";
import nt from "node:test";
let n = 0; nt("a", async (t: any) => { assert.ok(true); for (let i = 0; i < 2; ++i) { try { await t.test("s", async () => { if (n++ === 0) throw new Error("broken"); }); } catch {} await new Promise((r) => setTimeout(r, 5)); } });
