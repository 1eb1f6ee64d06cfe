// nothing_asserted
// with run.require_assertions=test
// assertions of two concurrent tests pay for any test without one (require_assertions = "test", as nights ask)
import { expect, test } from "bun:test";
test.concurrent("a", async () => { await Bun.sleep(5); for (let i = 0; i < 9; ++i) expect(1).toBe(1); await Bun.sleep(10); });
test.concurrent("b", async () => { await Bun.sleep(5); for (let i = 0; i < 9; ++i) expect(1).toBe(1); await Bun.sleep(10); });
test("asserts nothing", () => {});
test("nor does this", () => {});
