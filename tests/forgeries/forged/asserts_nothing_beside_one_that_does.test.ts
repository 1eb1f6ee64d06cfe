// nothing_asserted
// with run.require_assertions=test
import { expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
test("asserts nothing", () => {});
