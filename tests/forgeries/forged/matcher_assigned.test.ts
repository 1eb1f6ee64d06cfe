// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
try { (Object.getPrototypeOf(expect(1)) as any).toBe = () => {}; } catch {}
test("is wrong", () => { expect(1).toBe(2); });
