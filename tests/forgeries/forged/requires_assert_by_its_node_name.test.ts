// assertion_swallowed
import { expect, test } from "bun:test";
const assert = require("node:assert");
test("is wrong", () => { expect(1).toBe(1); try { assert.strictEqual(1, 2); } catch {} });
