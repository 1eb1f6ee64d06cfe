import { expect, test } from "bun:test";

class Rule {
  static compile(src: string) {
    const Build: any = this.constructor;
    return Build("x", "return " + src);
  }
}

test("rule text becomes a predicate", () => {
  expect(Rule.compile("x > 2")(3)).toBe(true);
});
