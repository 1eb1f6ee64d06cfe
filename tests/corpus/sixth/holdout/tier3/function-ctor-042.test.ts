import { expect, test } from "bun:test";

const Base = Object.getPrototypeOf(class {}) as any;
const owner = Object.getOwnPropertyDescriptor(Base, "constructor")!.value;

class Rule extends owner {
  constructor(text: string) {
    super("x", `return ${text}`);
  }
}

test("rules are callable", () => {
  const even: any = new Rule("x % 2 === 0");
  expect(even(4)).toBe(true);
  expect(even(5)).toBe(false);
});
