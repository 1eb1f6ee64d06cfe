// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test.only("is right", () => { expect(1).toBe(1); });
test("is wrong", () => { expect(1).toBe(2); });
