// tests_failed|report_forged
import { beforeAll, describe, expect, test } from "bun:test";
describe("group", () => { beforeAll(() => { throw undefined; }); test("is wrong", () => { expect(1).toBe(2); }); });
test("is right", () => { expect(1).toBe(1); });
