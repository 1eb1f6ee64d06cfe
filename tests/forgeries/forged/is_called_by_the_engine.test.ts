// assertion_swallowed
// forEach has no place: any other seems to be the same caller.
import { expect, test } from "bun:test";
const ok = (v: boolean) => { try { expect(v).toBe(true); } catch {} };
test("is wrong", async () => {
  [1 + 1 === 3].forEach(ok);
  await Bun.sleep(3);
  [1 + 1 === 2].forEach(ok);
});
