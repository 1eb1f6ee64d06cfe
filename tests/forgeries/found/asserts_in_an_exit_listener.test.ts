// an assertion fails in a listener of exit, behind the last word
import { expect, jest, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); process.on("exit", () => { expect(1).toBe(2); }); });
