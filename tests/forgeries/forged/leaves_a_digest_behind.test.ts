// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); crypto.subtle.digest("SHA-256", new Uint8Array(1 << 20)).then((sum) => { expect(sum.byteLength).toBe(2); }); });
