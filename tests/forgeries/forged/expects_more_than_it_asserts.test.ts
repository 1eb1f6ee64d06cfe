// tests_failed
// bun alone says that an assertion is missing; guard counts by itself.
import { expect, test } from "bun:test";
test("is wrong", () => { expect.assertions(2); expect(1).toBe(1); });
