// assertion_swallowed
// A helper asserts with what it required by a name that no file spells.
import { expect, test } from "bun:test";
import { must } from "./must.ts";
test("is wrong", () => { expect(1).toBe(1); try { must(1, 2); } catch {} });
