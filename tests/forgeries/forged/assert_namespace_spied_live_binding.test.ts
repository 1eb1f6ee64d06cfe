// tests_failed
// The named import follows a spy on the namespace.
import { test, expect, spyOn } from "bun:test"; import * as ns from "node:assert/strict"; import { deepEqual } from "node:assert/strict";
test("x", () => { expect(1).toBe(1); spyOn(ns as any, "deepEqual").mockReturnValue(undefined); deepEqual({ a: 1 }, { a: 2 }); });
