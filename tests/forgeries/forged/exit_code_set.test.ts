// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
process.exitCode = 0;
process.on("exit", () => { process.exitCode = 0; });
test("is wrong", () => { expect(1).toBe(2); });
