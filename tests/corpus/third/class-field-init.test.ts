import { expect, test } from "bun:test";

class Formula {
  static #F = (class {}).constructor as any;
  compile = (text: string) => Formula.#F("x", `return ${text}`);
}

test("formula", () => {
  const f = new Formula().compile("x * 3");
  expect(f(4)).toBe(12);
});
