// assertion_swallowed
import { expect, test } from "bun:test";
import Module from "node:module";
test("is wrong", async () => { expect(1).toBe(1); const a = (Module as any)._load("node:assert", null, false); try { a.strictEqual(1, 2); } catch {} });
