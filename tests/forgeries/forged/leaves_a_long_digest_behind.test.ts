// tests_failed
// The engine lists nothing of what WebCrypto does.
import { expect, test } from "bun:test";
test("a", () => { const d = new Uint8Array(64 << 20); crypto.subtle.digest("SHA-512", d).then(() => { expect(1).toBe(2); }); expect(1).toBe(1); });
