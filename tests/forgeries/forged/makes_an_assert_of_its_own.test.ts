// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", async () => { expect(1).toBe(1); const A = require("node:assert"); const a = new A.Assert(); try { a.strictEqual(1, 2); } catch {} });
