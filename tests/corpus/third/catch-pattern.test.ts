import { expect, test } from "bun:test";

test("rejects with the handler", () => {
  let made: any;
  try {
    throw () => {};
  } catch ({ constructor }: any) {
    made = constructor("n", "return n * n");
  }
  expect(made(9)).toBe(81);
});
