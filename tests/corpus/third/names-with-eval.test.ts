import { describe, expect, it } from "bun:test";

const isDangerous = (s: string) => /\b(eval|exec|spawn|rm -rf|child_process)\b/.test(s);

describe("linter rule no-dangerous-calls (eval, new Function, child_process)", () => {
  it("flags eval('1 + 1')", () => {
    expect(isDangerous("eval('1 + 1')")).toBe(true);
  });
  it("flags require('child_process').execSync('rm -rf /')", () => {
    expect(isDangerous("require('child_process')")).toBe(true);
  });
  it("does not flag evaluation, spawner or executor", () => {
    expect(isDangerous("evaluation spawner executor")).toBe(false);
  });
});
