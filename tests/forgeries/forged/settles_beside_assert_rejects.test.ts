// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert";
test("is wrong", async () => { await Promise.allSettled([assert.rejects(async () => { await Bun.sleep(10); throw new Error("x"); }), (async () => { expect(1).toBe(2); })()]); });
