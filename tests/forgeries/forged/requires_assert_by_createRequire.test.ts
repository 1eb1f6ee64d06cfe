// assertion_swallowed
import { expect, test } from "bun:test";
import { createRequire } from "node:module";
const assert = createRequire(import.meta.url)("node:assert");
test("is wrong", () => { expect(1).toBe(1); try { assert.strictEqual(1, 2); } catch {} });
