// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); let n = 0; const again = () => { if (n++ < 100) setImmediate(again); else expect(1).toBe(2); }; setImmediate(again); });
