import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("a", () => { expect(1).toBe(1); });
test.skip("b", () => {});
test("c", () => { expect([1]).toEqual([1]); });
