// nothing_asserted
import assert from "node:assert";
import nt from "node:test";
nt("a", async (t: any) => { await t.test("s", () => {}); await t.test("u", async () => {}); });
