// Tests of node's own runner.
import { after, afterEach, before, beforeEach, describe, it, mock, test } from "node:test";
import assert from "node:assert/strict";
let n = 0;
before(() => { n = 1; });
beforeEach(() => { ++n; });
afterEach(() => {});
after(() => {});
test("adds", () => { assert.equal(1 + 1, 2); });
test("waits", async () => { await new Promise((done) => setTimeout(done, 1)); assert.ok(n > 1); });
describe("a group", () => { it("holds", () => { assert.deepEqual({ a: 1 }, { a: 1 }); }); it("holds too", async () => { await assert.rejects(Promise.reject(new Error("no"))); }); });
test("has a context", (t) => { t.diagnostic?.("said"); assert.equal(typeof t.name, "string"); });
