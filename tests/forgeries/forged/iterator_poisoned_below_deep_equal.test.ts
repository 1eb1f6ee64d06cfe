// tests_failed
// node's deepEqual walks maps by the iterator protocol: with a foreign next nothing is compared
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
test("x", () => { const I = Object.getPrototypeOf([][Symbol.iterator]()); I.next = () => ({ done: true }); const M = Object.getPrototypeOf(new Map()[Symbol.iterator]()); M.next = () => ({ done: true }); const S = Object.getPrototypeOf(new Set()[Symbol.iterator]()); S.next = () => ({ done: true }); assert.deepEqual(new Map([[1, { a: 1 }]]), new Map([[1, { a: 2 }]])); });
