import { expect, test } from "bun:test";

const key = ["con", "struct", "or"].reduce((a, b) => a + b);

test("reaches the factory", () => {
  const factory = (Math as any)[key][key];
  expect(factory("return 2 ** 5")()).toBe(32);
});
