// expected_failures|tests_failed
import { test, expect } from "bun:test";
const s: any = test.serial; const k = Object.getOwnPropertyNames(Object.getPrototypeOf(s)).find((n) => n.length === 7)!;
s[k]("adds", () => { expect(1 + 1).toBe(3); });
