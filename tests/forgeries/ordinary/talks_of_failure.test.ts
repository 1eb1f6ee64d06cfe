import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("prints", () => { console.log("0 pass, 1 fail"); console.error("Ran 3 tests across 2 files. [1ms]"); console.error("tests failed: none"); expect(1).toBe(1); });
