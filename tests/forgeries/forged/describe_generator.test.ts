// nothing_asserted
// a group whose function is a generator declares nothing
import { test, expect, describe } from "bun:test";
describe("all", function* () { test("bad", () => { expect(1).toBe(2); }); } as any);
test("one", () => { expect(1).toBe(1); });
