// tests_failed|violation
import { expect, mock, test, vi } from "bun:test";
let asked = 0;
const name = Object.assign(new String("x"), { toString: () => (asked++ ? "bun:test" : "./other") }) as any;
try { mock.module(name, () => ({ expect: () => ({ toBe() {} }), test() {} })); } catch {}
try { vi.mock(name, () => ({ expect: () => ({ toBe() {} }), test() {} })); } catch {}
const again = await import("bun:test");
again.test("is wrong", () => { again.expect(1).toBe(2); });
