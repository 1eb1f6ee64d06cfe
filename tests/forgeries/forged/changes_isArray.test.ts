// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert";
const E = new Error("x");
test("is wrong", async () => { expect(1).toBe(1);
 await assert.rejects(async () => { for (const x of [1, 2, 3]) { try { assert.equal(x, 0, E); } catch {} await 1; } throw E; });
});
