// report_forged|tests_failed
import { expect, test } from "bun:test";
import * as jsc from "bun:jsc";
test("is wrong", () => { const text = JSON.stringify((Bun as any).generateHeapSnapshot()); const found = jsc.serialize({ text }); expect(found.byteLength).toBe(0); });
