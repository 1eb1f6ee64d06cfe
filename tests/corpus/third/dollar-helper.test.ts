import { expect, test } from "bun:test";

const $ = (s: TemplateStringsArray, ...v: number[]) => s.reduce((o, p, i) => o + p + (i < v.length ? "$" + v[i].toFixed(2) : ""), "");
const $$ = { sum: (...n: number[]) => n.reduce((a, b) => a + b, 0) };

test("money tag", () => {
  expect($`total: ${$$.sum(1.5, 2)}`).toBe("total: $3.50");
  expect($`none`).toBe("none");
});
