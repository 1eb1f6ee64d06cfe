// assertion_swallowed
// import() of the bare name by a variable gives the raw node:assert
import { test, expect } from "bun:test";
const name = "assert";
test("x", async () => { expect(1).toBe(1); const { default: assert } = await import(name); try { assert.strictEqual(1, 2); } catch {} });
