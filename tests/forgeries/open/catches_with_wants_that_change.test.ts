// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", async () => { const want = { v: 0 };
  for (const [a, b] of [[1, 2], [3, 3]]) { want.v = b; try { expect({ v: a }).toEqual(want); } catch {} await Bun.sleep(3); } });
