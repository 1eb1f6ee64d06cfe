// assertion_swallowed
import { expect, test } from "bun:test";
import assert from "node:assert";
test("is wrong", async () => { let late: any; assert.throws(() => { late = (async () => { expect(1).toBe(2); })(); late.catch(() => {}); throw new Error("x"); }); await late.catch(() => {}); });
