// nothing_asserted|assertion_swallowed
import { test } from "bun:test";
test("is wrong", () => { console.assert(1 as any === 2, "no"); });
