// expected_failures
import { expect, test } from "bun:test";
(test as any).failing.if?.(true)("is wrong", () => { expect(1).toBe(2); });
(test as any).failingIf?.(true)("is wrong", () => { expect(1).toBe(2); });
