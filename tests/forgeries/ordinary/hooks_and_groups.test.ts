import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
let n = 0;
beforeAll(() => { n = 10; });
beforeEach(() => { n++; });
afterEach(() => { n--; });
afterAll(() => { n = 0; });
describe("outer", () => { describe("inner", () => { test.each([1, 2, 3])("case %d", (x) => { expect(n).toBe(11); expect(x).toBeGreaterThan(0); }); }); });
