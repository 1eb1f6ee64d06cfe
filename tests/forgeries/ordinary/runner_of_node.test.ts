// Tests of node's own runner.
import assert from "node:assert/strict";
import test, { after, afterEach, before, beforeEach, describe, it, mock, suite } from "node:test";
let n = 0;
before(() => { n = 1; });
beforeEach(() => { ++n; });
afterEach(() => {});
after((_t, done) => { setTimeout(done, 1); });
test("adds", () => { assert.equal(1 + 1, 2); });
test("waits", async () => { await new Promise((done) => setTimeout(done, 1)); assert.ok(n > 1); });
test("has a limit", { timeout: 10_000, concurrency: true }, () => { assert.notEqual(n, 0); });
test("calls back", (_t, done) => { setTimeout(() => { assert.ok(true); done(); }, 1); });
test(function named() { assert.ok(true); });
test("has a context", (t) => {
  t.diagnostic("said");
  assert.equal(t.name, "has a context");
  t.after(() => { n = 0; });
  t.assert.deepStrictEqual([1], [1]);
  const fixed = t.mock.method(Math, "random", () => 0.5);
  assert.equal(Math.random(), 0.5);
  assert.equal(fixed.mock.callCount(), 1);
});
test("mocks end with their test", () => { assert.notEqual(Math.random(), 0.5); });
test("mocks of the module", () => {
  const twice = mock.fn((x: number) => x * 2);
  assert.equal(twice(4), 8);
  assert.deepEqual(twice.mock.calls[0]!.arguments, [4]);
});
describe("a group", () => {
  before(() => { n = 7; });
  it("holds", () => { assert.ok(n >= 7); });
  it("holds too", async () => { await assert.rejects(Promise.reject(new Error("no"))); });
  it.skip("is left out", () => { assert.fail(); });
  it("is left out, too", { skip: "another day" }, () => { assert.fail(); });
  it.todo("comes later");
});
suite("a suite", () => { suite("in another", () => { test("holds", () => { assert.throws(() => { throw new TypeError("x"); }, TypeError); }); }); });
describe.skip("a group that is left out", () => { it("fails", () => { assert.fail(); }); });
await test("is awaited", () => { assert.ok(true); });
test("mocks time", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1000 });
  let called = false;
  setTimeout(() => { called = true; }, 5_000);
  t.mock.timers.tick(5_000);
  assert.ok(called);
  assert.equal(Date.now(), 6_000);
});
mock.timers.enable({ apis: ["setInterval"] });
