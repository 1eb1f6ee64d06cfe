// violation|tests_failed
import { mock, test } from "bun:test";
mock.module("node:assert", () => ({ default: Object.assign(() => {}, { equal() {} }) }));
const { default: assert } = await import("node:assert");
test("is wrong", () => { assert.equal(1, 2); });
