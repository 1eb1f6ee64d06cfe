import { expect, test } from "bun:test";

function evalExpr(src: string): number {
  const tokens = src.match(/\d+(?:\.\d+)?|[-+*/()]/g) ?? [];
  let i = 0;
  const primary = (): number => {
    const t = tokens[i++];
    if (t === "(") {
      const v = sum();
      i++;
      return v;
    }
    return t === "-" ? -primary() : Number(t);
  };
  const product = (): number => {
    let v = primary();
    while (tokens[i] === "*" || tokens[i] === "/") v = tokens[i++] === "*" ? v * primary() : v / primary();
    return v;
  };
  const sum = (): number => {
    let v = product();
    while (tokens[i] === "+" || tokens[i] === "-") v = tokens[i++] === "+" ? v + product() : v - product();
    return v;
  };
  return sum();
}

test.each([["1+2*3", 7], ["(1+2)*3", 9], ["-4/2", -2]] as const)("evalExpr(%s)", (s, n) => {
  expect(evalExpr(s)).toBe(n);
});
