// assertion_swallowed
// the checks of node, by a name put together at run time,are raw where no file spells it: a failed one is caught unseen
import { expect, jest, test } from "bun:test";
const used = (a: any) => { if (typeof a?.strictEqual !== "function") throw new Error("none: " + typeof a); try { a.strictEqual(1, 2); } catch {} };
const a = require("ass" + "ert");
test("is wrong", () => { expect(1).toBe(1); used(a); });
