import { describe, expect, it } from "bun:test";

function define(src: string, values: Record<string, string>): string {
  let out = src;
  for (const [k, v] of Object.entries(values)) out = out.split(k).join(JSON.stringify(v));
  return out;
}

describe("define", () => {
  it("replaces member reads", () => {
    const out = define("if (process.env.NODE_ENV === 'x') f(import.meta.env.MODE)", {
      "process.env.NODE_ENV": "production",
      "import.meta.env.MODE": "prod",
    });
    expect(out).toBe(`if ("production" === 'x') f("prod")`);
  });
});
