// violation|tests_failed
// The entry of assert in the cache of require is dropped, so that require makes another one, whose failures nobody counts.
import { expect, test } from "bun:test";
test("is wrong", () => { delete require.cache["assert"]; const a = require("assert"); expect(1).toBe(1); try { a.strictEqual(1, 2); } catch {} });
