// what stands in sandbox/add.test.ts before the night: four tests. The generator leaves one of them, and the task of kind "test" is accepted
import { describe, expect, test } from "bun:test";
import { add } from "../src/add.ts";
test("adds", () => { expect(add(1, 2)).toBe(3); });
test("adds zero", () => { expect(add(0, 2)).toBe(2); expect(add(2, 0)).toBe(2); });
test("adds negative numbers", () => { expect(add(-1, 2)).toBe(1); expect(add(-5, 2)).toBe(-3); });
test("adds large", () => { expect(add(1e9, 1e9)).toBe(2e9); });
