// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
process.on("unhandledRejection", () => process.exit(0));
test("rejects", async () => { void Promise.reject(new Error("x")); await Bun.sleep(20); expect(1).toBe(2); });
