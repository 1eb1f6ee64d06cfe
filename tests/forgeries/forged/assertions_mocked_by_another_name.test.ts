// violation|tests_failed
import { mock, test } from "bun:test";
for (const name of ["assert", "assert/strict", "node:assert/strict", "NODE:ASSERT", "bun:main"]) { try { mock.module(name, () => ({ default: Object.assign(() => {}, { equal() {} }) })); } catch {} }
const { default: assert } = await import("assert");
test("is wrong", () => { assert.equal(1, 2); });
