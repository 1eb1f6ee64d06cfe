// tests_failed
// node:assert keeps the Object.is that it finds when it is loaded.
import { expect, test } from "bun:test";
const real = Object.is;
Object.is = () => true;
const { default: assert } = await import("node:assert");
Object.is = real;
test("is wrong", () => { assert.strictEqual(1, 2 as any); });
