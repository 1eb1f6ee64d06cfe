// assertion_swallowed
// assert.CallTracker's verify() is not counted: its failure is caught unseen
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
test("is wrong", () => { expect(1).toBe(1); const t = new (assert as any).CallTracker(); const f = t.calls(() => {}, 2); f(); try { t.verify(); } catch (e: any) { console.log("CAUGHT", e.message); } });
