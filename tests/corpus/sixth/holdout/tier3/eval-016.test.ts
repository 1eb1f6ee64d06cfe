import { describe, expect, it } from "bun:test";

function calculate(expression: string): number {
  if (!/^[\d+\-*/(). ]+$/.test(expression)) throw new Error("bad expression");
  return eval(expression);
}

describe("calculate", () => {
  it("adds", () => expect(calculate("1 + 2")).toBe(3));
  it("keeps precedence", () => expect(calculate("2 + 3 * 4")).toBe(14));
});
