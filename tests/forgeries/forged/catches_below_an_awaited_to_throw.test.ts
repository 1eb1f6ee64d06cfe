// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", async () => { await expect(async () => { try { expect(1).toBe(2); } catch {} throw new Error("other"); }).toThrow("other"); });
