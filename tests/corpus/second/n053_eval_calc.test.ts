import { describe, expect, it } from "bun:test";

function evaluate(src: string): number {
  const toks = src.match(/\d+|[+*]/g) ?? [];
  return toks.join("").split("+").map((p) => p.split("*").reduce((a, b) => a * Number(b), 1)).reduce((a, b) => a + b, 0);
}

describe("evaluate", () => {
  it("honours precedence", () => expect(evaluate("1+2*3")).toBe(7));
});
