import { expect, test } from "bun:test";

type Expr = number | { op: "+" | "*"; l: Expr; r: Expr };

function evaluate(e: Expr): number {
  if (typeof e === "number") return e;
  const l = evaluate(e.l), r = evaluate(e.r);
  return e.op === "+" ? l + r : l * r;
}

test("evaluate respects nesting", () => {
  expect(evaluate({ op: "+", l: 2, r: { op: "*", l: 3, r: 4 } })).toBe(14);
});
