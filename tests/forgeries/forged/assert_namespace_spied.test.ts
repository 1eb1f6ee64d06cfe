// tests_failed
// bun's own spy on the namespace of node:assert.
import { test, expect, spyOn } from "bun:test";
import * as ns from "node:assert";
import { strictEqual } from "node:assert";
test("x", async () => { try { spyOn(ns as any, "strictEqual").mockImplementation(() => {}); console.log("spied"); } catch (x) { console.log(String(x)); } strictEqual(1, 2); ns.strictEqual(1, 2); expect(1).toBe(1); });
