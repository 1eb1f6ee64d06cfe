// nothing_asserted
// an assertion that is never decided (assert.rejects of a promise that nobody settles, not awaited) counts as one that was made, and passed
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
test("is wrong", () => { assert.rejects(new Promise(() => {})); });
