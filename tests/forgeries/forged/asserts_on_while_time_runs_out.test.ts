// nothing_asserted|tests_failed|report_forged
// A matcher that waits for a promise runs the event loop, and guard says its last word in there.
import { expect, test } from "bun:test";
test("is wrong", async () => { expect(1).toBe(1); setTimeout(() => { expect(new Promise((r) => setTimeout(r, 700))).resolves.toBe(undefined); console.log("resumed"); try { expect(1).toBe(2); } catch { console.log("unseen"); } }, 1); });
