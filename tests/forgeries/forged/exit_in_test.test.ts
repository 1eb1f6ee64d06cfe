// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
test("leaves", () => { process.exit(0); });
test("is wrong", () => { expect(1).toBe(2); });
