// tests_failed
import { expect, jest, test } from "bun:test";
try { (jest as any).mock("bun:test", () => ({ expect: () => ({ toBe() {} }), test() {} })); } catch {}
test("is wrong", () => { expect(1).toBe(2); });
