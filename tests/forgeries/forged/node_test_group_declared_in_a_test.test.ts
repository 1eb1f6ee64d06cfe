// report_forged
// A group declared in a test.
import { test, describe, it } from "node:test"; import assert from "node:assert";
test("zero", () => { assert.ok(1); try { describe("x", () => { it("bad", () => { assert.ok(0); }); }); } catch {} });
