import { expect, test } from "bun:test";
import { compile } from "../src/expr";

test("compiled expression agrees", () => {
  const js = compile("a + b * 2");
  const a = 1, b = 2;
  expect(eval(js)).toBe(a + b * 2);
});
