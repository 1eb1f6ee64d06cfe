// assertion_swallowed|violation|tests_failed
import { spyOn, test } from "bun:test";
import assert from "node:assert";
try { (assert as any).equal = () => {}; } catch {}
try { spyOn(assert, "equal").mockImplementation(() => {}); } catch {}
test("is wrong", () => { assert.equal(1, 2); });
