// tests_failed|violation|report_missing
// Another realm has a process of its own, whose exit ends this one.
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); setImmediate(() => expect(1).toBe(2)); new (globalThis as any).ShadowRealm().evaluate("process.exit(0)"); });
