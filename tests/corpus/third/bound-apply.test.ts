import { expect, test } from "bun:test";

const invoke = Function.prototype.call.bind(globalThis.eval, null);

test("invoke", () => {
  expect(invoke("'x' + 'y'")).toBe("xy");
});
