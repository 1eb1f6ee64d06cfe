// tests_failed
// the raw module is changed before anybody loads it
import { test } from "bun:test";
const name = "assert";
test("x", async () => { const raw: any = (await import(name)).default; raw.strictEqual = () => {}; const { default: assert } = await import("node:assert"); assert.strictEqual(1, 2); });
