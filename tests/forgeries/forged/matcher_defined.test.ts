// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
try { Object.defineProperty(Object.getPrototypeOf(expect(1)), "toBe", { value: () => {} }); } catch {}
test("is wrong", () => { expect(1).toBe(2); });
