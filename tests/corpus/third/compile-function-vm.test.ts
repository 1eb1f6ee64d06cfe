import { compileFunction as build } from "node:vm";
import { expect, test } from "bun:test";

test("discount rule", () => {
  const rule = build("return price * 0.9", ["price"]);
  expect(rule(100)).toBe(90);
});
