import { describe, expect, it } from "bun:test";

const DANGEROUS = [/\beval\s*\(/, /new\s+Function\s*\(/];
const lint = (src: string) => DANGEROUS.filter((re) => re.test(src)).length;

describe("no-dynamic-code", () => {
  it("reports", () => {
    expect(lint("const x = eval('1')")).toBe(1);
    expect(lint("new Function('a', 'return a')")).toBe(1);
  });
  it("passes clean code", () => {
    expect(lint("const x = evaluate(1)")).toBe(0);
  });
});
