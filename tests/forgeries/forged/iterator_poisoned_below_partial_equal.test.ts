// tests_failed
// node's partialDeepStrictEqual walks sets by the iterator protocol: with a foreign next nothing is compared
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
test("x", () => { const S = Object.getPrototypeOf(new Set()[Symbol.iterator]()); S.next = () => ({ done: true }); const I = Object.getPrototypeOf([][Symbol.iterator]()); I.next = () => ({ done: true }); (Set.prototype as any)[Symbol.iterator] = function* () {}; (assert as any).partialDeepStrictEqual(new Set([1]), new Set([2])); });
