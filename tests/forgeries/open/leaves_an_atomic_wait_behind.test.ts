// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); (Atomics as any).waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60).value.then(() => expect(1).toBe(2)); });
