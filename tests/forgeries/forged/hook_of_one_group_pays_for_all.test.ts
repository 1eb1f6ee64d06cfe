// nothing_asserted
// with run.require_assertions=test
import { beforeAll, describe, expect, test } from "bun:test";
describe("group", () => { beforeAll(() => { expect(1).toBe(1); }); test("asserts nothing", () => {}); test("nor does this", () => {}); });
