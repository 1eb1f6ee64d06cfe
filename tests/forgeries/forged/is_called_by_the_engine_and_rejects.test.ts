// assertion_swallowed
// The same, below rejects.
import { expect, test } from "bun:test";
const must = (v: boolean) => { expect(v).toBe(true); };
test("is wrong", async () => {
  try { [1 + 1 === 3].forEach(must); } catch {}
  await Bun.sleep(3);
  await expect((async () => { [false].forEach(must); })()).rejects.toThrow();
});
