import { describe, expect, it } from "bun:test";
import { Interpreter, evaluate } from "../src/calc";

describe("evaluate", () => {
  const interp = new Interpreter();

  it.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["-2 ** 2", -4],
  ])("%s = %d", (src, want) => {
    expect(evaluate(src)).toBe(want);
    expect(interp.eval(src)).toBe(want);
  });

  it("keeps variables between eval calls", () => {
    interp.eval("x = 4");
    expect(interp.eval("x / 2")).toBe(2);
  });
});
