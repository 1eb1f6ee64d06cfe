// all_skipped
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
describe.skip("later", () => { test("is wrong", () => { expect(1).toBe(2); }); });
