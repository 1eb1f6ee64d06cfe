// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", async () => {
  for (const [value, wanted] of [[1, 2], [3, 3]]) {
    await Bun.sleep(3);
    try { expect(value).toBe(wanted as number); } catch (error) { console.log(error); }
  }
});
