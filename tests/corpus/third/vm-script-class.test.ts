import { Script as Program, createContext } from "vm";
import { expect, test } from "bun:test";

test("program counts", () => {
  const ctx = createContext({ n: 1 });
  new Program("n += 1; n += 1").runInContext(ctx);
  expect(ctx.n).toBe(3);
});
