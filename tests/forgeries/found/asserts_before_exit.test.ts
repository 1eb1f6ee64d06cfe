// an assertion fails in a listener of beforeExit, behind the last word
import { expect, jest, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); process.on("beforeExit", () => { expect(1).toBe(2); }); });
