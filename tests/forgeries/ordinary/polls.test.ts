import { expect, test } from "bun:test";
import assert from "node:assert";
test("polls", async () => {
  let n = 0;
  const timer = setInterval(() => ++n, 2);
  for (let i = 0; ; ++i) { try { assert.equal(n > 3, true); break; } catch (error) { if (i > 100) throw error; await Bun.sleep(3); } }
  for (let i = 0; ; ++i) { try { expect({ n: n > 10 }).toEqual({ n: true }); break; } catch (error) { if (i > 100) throw error; await Bun.sleep(3); } }
  clearInterval(timer);
  expect.hasAssertions();
});
