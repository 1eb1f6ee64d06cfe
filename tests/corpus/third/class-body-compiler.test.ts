import { expect, test } from "bun:test";

class Rule extends Function {
  constructor(public source: string) {
    super("v", `return (${source});`);
  }
}

test("rule checks the value", () => {
  const rule = new Rule("v > 10") as unknown as (v: number) => boolean;
  expect(rule(11)).toBe(true);
  expect(rule(9)).toBe(false);
});
