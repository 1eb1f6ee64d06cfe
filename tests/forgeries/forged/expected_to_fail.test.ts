// expected_failures
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
test.failing("is wrong", () => { expect(1).toBe(2); });
