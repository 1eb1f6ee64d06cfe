import { expect, test } from "bun:test";

const root = (function () {
  if (typeof globalThis !== "undefined") return globalThis;
  return Function("return this")();
})();

const alsoRoot = Function("return this")();

test("root is the global object", () => {
  expect(root).toBe(alsoRoot);
});
