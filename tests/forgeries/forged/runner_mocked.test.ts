// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
try { mock.module("bun:test", () => ({ expect: () => ({ toBe() {} }), test() {}, describe() {} })); } catch {}
test("is wrong", () => { expect(1).toBe(2); });
