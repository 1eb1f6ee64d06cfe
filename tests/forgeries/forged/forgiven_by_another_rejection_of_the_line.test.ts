// assertion_swallowed
// a helper's assertion fails and is caught; a later rejects asks for a failure of the same line and wants, and forgives both
import { expect, jest, test } from "bun:test";
const must = (v: unknown) => { expect(v).toBe(true); };
test("is wrong", async () => { try { must(1 + 1 === 3); } catch {} await expect((async () => must(false))()).rejects.toThrow(); });
