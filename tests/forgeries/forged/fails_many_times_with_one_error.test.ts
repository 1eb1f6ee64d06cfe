// assertion_swallowed
// toThrow asks for one failure; the others had the same error.
import { expect, test } from "bun:test";
import assert from "node:assert";
const E = new Error("x");
test("is wrong", () => { expect(() => { for (const x of [1, 2, 3]) { try { assert.equal(x, 0, E); } catch {} } throw E; }).toThrow(); });
