// expected_failures|tests_failed|violation
import assert from "node:assert";
import nt from "node:test";
nt("a", () => { assert.ok(true); });
nt("y", { expectFailure: true } as any, () => { throw new Error("broken"); });
