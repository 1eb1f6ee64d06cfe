// assertion_swallowed
// rejects asks for one failure; others of the same helper are not it.
import { expect, test } from "bun:test";
const attempt = async (f: () => void) => { await null; f(); };
test("is wrong", async () => {
  for (const f of [() => expect(0).toBeTrue(), () => expect("a").toBeNull(), () => expect([]).toBeUndefined()]) await attempt(f).catch(() => {});
  await Bun.sleep(2);
  await expect(attempt(() => expect(1).toBeFalse())).rejects.toThrow();
});
