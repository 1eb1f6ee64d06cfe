// nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", async function* () { expect(1).toBe(2); } as any);
test("is right", () => { expect(1).toBe(1); });
