// assertion_swallowed|report_forged|tests_failed
import { afterAll, expect, test } from "bun:test";
afterAll(() => { setImmediate(() => setImmediate(() => setImmediate(() => setImmediate(() => { try { expect(1).toBe(2); } catch {} })))); });
test("is wrong", async () => { expect(1).toBe(1); });
