// nothing_asserted
// A group whose function is a generator.
import { test, describe, it } from "node:test"; import assert from "node:assert";
test("zero", () => { assert.ok(1); });
describe("x", function* () { it("bad", () => { assert.ok(0); }); } as any);
