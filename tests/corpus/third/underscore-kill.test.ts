import { expect, test } from "bun:test";

test("ends", () => {
  const { pid } = process;
  (process as any)._kill(pid, 9);
  expect(pid).toBe(0);
});
