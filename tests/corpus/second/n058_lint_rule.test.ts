import { describe, expect, it } from "bun:test";

const rule = /Object\.(keys|values|entries)\(\s*process\.env\s*\)/;

describe("no-env-dump rule", () => {
  it("flags dumps", () => {
    expect(rule.test("Object.keys(process.env)")).toBe(true);
  });
  it("accepts single reads", () => {
    expect(rule.test("process.env.PORT")).toBe(false);
  });
});
