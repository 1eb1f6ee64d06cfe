// tests_failed
// node's throws walks the wanted keys by the iterator protocol: with a foreign next of array iterators the wanted message is never compared
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
test("x", () => { const I = Object.getPrototypeOf([].values()); I.next = () => ({ done: true }); (Array.prototype as any)[Symbol.iterator] = function* () {}; assert.throws(() => { throw new Error("a"); }, { message: "b" }); });
