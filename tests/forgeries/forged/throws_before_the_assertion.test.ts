// assertion_swallowed
// Object.prototype.get breaks what guard does before it asks.
import { expect, test } from "bun:test";
import assert from "node:assert";
test("is wrong", () => { expect(1).toBe(1); const to: any = Object.prototype; to.get = () => 0; try { assert.strictEqual(1, 2); } catch (e) { delete to.get; console.log(String(e)); } });
