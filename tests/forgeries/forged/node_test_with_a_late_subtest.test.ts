// tests_failed|report_forged|violation|nothing_asserted
import assert from "node:assert";
import nt from "node:test";
nt("a", (t: any) => { assert.ok(true); setTimeout(() => { t.test("s", () => { throw new Error("broken"); }); }, 5); });
