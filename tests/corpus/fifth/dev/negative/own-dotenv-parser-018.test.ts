import { describe, expect, it } from "bun:test";
import { parse, stringify } from "../src/parsers/env-text";

describe("parse", () => {
  it("handles quotes and comments", () => {
    expect(parse(`# top\nA=1\nB="two words" # tail\nexport C='x'`)).toEqual({ A: "1", B: "two words", C: "x" });
  });
  it("is the inverse of stringify", () => {
    const vars = { HOST: "localhost", PORT: "80" };
    expect(parse(stringify(vars))).toEqual(vars);
  });
});
