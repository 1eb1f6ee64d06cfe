// nothing_asserted|violation|tests_failed
import assert from "node:assert";
import nt from "node:test";
nt("a", () => { assert.equal(1, 1); });
nt("is wrong", function* () { assert.equal(1, 2); } as any);
