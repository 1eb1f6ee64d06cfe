import { expect, test } from "bun:test";
import { parse, walk } from "../src/ast";

test("visits constructors and functions", () => {
  const seen: string[] = [];
  walk(parse("class A { constructor() { this.x = new B() } } const f = function () {}"), {
    Function: (n) => seen.push(n.type),
    NewExpression: () => seen.push("new"),
    "MethodDefinition[kind=constructor]": () => seen.push("ctor"),
  });
  expect(seen).toEqual(["ctor", "FunctionExpression", "new", "FunctionExpression"]);
});
