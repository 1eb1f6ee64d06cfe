import { expect, test } from "bun:test";

class FunctionNode {
  constructor(public name: string, public params: string[]) {}
  toString() { return `function ${this.name}(${this.params.join(", ")}) {}`; }
}

const isFunction = (x: unknown): x is Function => x instanceof Function;

test("isFunction", () => {
  expect(isFunction(() => 1)).toBe(true);
  expect(new FunctionNode("f", ["a", "b"]).toString()).toBe("function f(a, b) {}");
  expect(expect.any(Function)).toBeDefined();
});
