// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is right", () => { setTimeout(() => { throw new Error("late"); }, 1); expect(1).toBe(1); });
test("waits", async () => { await Bun.sleep(20); expect(1).toBe(1); });
