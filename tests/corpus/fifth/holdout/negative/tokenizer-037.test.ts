import { describe, expect, test } from "bun:test";
import { countTokens, decode, encode } from "../src/bpe";

describe("bpe", () => {
  test("round trip", () => {
    const text = "evaluate the amount, process.environment!";
    expect(decode(encode(text))).toBe(text);
  });
  test("counts", () => {
    expect(countTokens("")).toBe(0);
    expect(countTokens("hello world")).toBe(2);
  });
});
