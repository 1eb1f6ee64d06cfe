// nothing_asserted
// with run.require_assertions=test
import { expect, test } from "bun:test";
test.concurrent("is right", async () => { await Bun.sleep(5); expect(1).toBe(1); });
test.concurrent("asserts nothing", async () => { await Bun.sleep(10); });
