// tests_failed
import { describe, expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
const { only } = test;
describe("is left out", () => { test("is wrong", () => { expect(1).toBe(2); }); });
only("is right, too", () => { expect(1).toBe(1); });
