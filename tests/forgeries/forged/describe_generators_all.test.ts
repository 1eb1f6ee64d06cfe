// nothing_asserted
// Groups that are asynchronous generators or thenables declare nothing.
import { test, expect, beforeEach, describe } from "bun:test";
describe.each([1, 2])("x %d", async function* () { test("bad", () => { expect(1).toBe(2); }); } as any);
describe("y", () => ({ then(f) { f(); } }) as any);
test("one", () => { expect(1).toBe(1); });
