// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
test("is wrong", () => { expect(1).toBe(2); });
process.exit(0);
