// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("leaves", () => { (process as any).reallyExit(0); });
test("is wrong", () => { expect(1).toBe(2); });
