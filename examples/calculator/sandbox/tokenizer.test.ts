import { describe, expect, test } from "bun:test";

import { tokenize } from "../src/tokenizer";

const texts = (expression: string) => tokenize(expression).map((token) => token.text);

describe("tokenize", () => {
  test("cuts an expression into tokens", () => {
    expect(texts("max(a_1,2.5e-3)*-1")).toEqual(["max", "(", "a_1", ",", "2.5e-3", ")", "*", "-", "1", ""]);
  });

  test("notes where each token starts", () => {
    expect(tokenize("  12 + x").map((token) => token.offset)).toEqual([2, 5, 7, 8]);
  });

  test("ends with one end token, even for nothing", () => {
    expect(tokenize("")).toEqual([{ kind: "end", text: "", offset: 0 }]);
    expect(tokenize(" \t ")).toEqual([{ kind: "end", text: "", offset: 3 }]);
  });

  test.each(["#", ".", "1 @ 2", "a & b", "\u00e9"])("refuses %p", (expression) => {
    expect(() => tokenize(expression)).toThrow("unexpected");
  });
});
