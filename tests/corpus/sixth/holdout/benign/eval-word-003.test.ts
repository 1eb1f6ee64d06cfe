import { describe, expect, it } from "bun:test";

type Node = number | { op: "+" | "*"; l: Node; r: Node };

function evaluate(n: Node): number {
  if (typeof n === "number") return n;
  const l = evaluate(n.l), r = evaluate(n.r);
  return n.op === "+" ? l + r : l * r;
}

describe("evaluate", () => {
  it("walks the tree", () => {
    expect(evaluate({ op: "+", l: 1, r: { op: "*", l: 2, r: 3 } })).toBe(7);
  });
  it("evaluates medieval numerals lazily", () => {
    expect(evaluate(5)).toBe(5);
  });
});
