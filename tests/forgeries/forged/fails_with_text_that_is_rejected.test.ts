// assertion_swallowed
// An assertion fails with a text, and a promise is rejected with an equal one.
import { expect, test } from "bun:test";
test("is wrong", async () => { try { expect(1).toSatisfy(() => { throw "no"; }); } catch {} await expect(Promise.reject("no")).rejects.toBe("no"); });
