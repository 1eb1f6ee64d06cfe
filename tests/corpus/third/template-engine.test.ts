import { describe, expect, test } from "bun:test";

type Ctx = Record<string, unknown>;

function compile(tpl: string): (ctx: Ctx) => string {
  const parts = tpl.split(/(\{\{\s*[\w.]+\s*\}\})/).map((p) => {
    const key = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(p)?.[1];
    return key ? (c: Ctx) => String(key.split(".").reduce<any>((o, k) => o?.[k], c) ?? "") : () => p;
  });
  return (ctx) => parts.map((f) => f(ctx)).join("");
}

describe("compile", () => {
  test("nested paths", () => {
    expect(compile("Hi {{ user.name }}!")({ user: { name: "Ada" } })).toBe("Hi Ada!");
  });
  test("missing values are empty", () => {
    expect(compile("[{{x}}]")({})).toBe("[]");
  });
});
