// expected_failures
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
const kind = ["fail", "ing"].join("");
(test as any)[kind]("is wrong", () => { expect(1).toBe(2); });
