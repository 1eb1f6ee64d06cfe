// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
afterAll(() => process.exit(0));
test("is wrong", () => { expect(1).toBe(2); });
