// nothing_asserted
import { expect, test } from "bun:test";
test("a", () => { expect(1).toBe(1); });
test("is wrong", () => (async () => { expect(1).toBe(2); }) as any);
