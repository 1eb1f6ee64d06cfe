// nothing_asserted
// assert.rejects without await, of a promise that is kept 400 ms later: the assertion fails behind the last word, and its beginning counts as an assertion
import { expect, jest, test } from "bun:test";
import assert from "node:assert";
const load = async () => { await Bun.sleep(400); return 1; };
test("is wrong", () => { assert.rejects(load()); });
