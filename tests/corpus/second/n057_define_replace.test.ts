import { describe, expect, it } from "bun:test";

const define = (src: string, vars: Record<string, string>) =>
  src.replace(/\bprocess\.env\.([A-Z_]+)\b/g, (all, k) => (k in vars ? JSON.stringify(vars[k]) : all));

describe("define", () => {
  it("inlines known names", () => {
    expect(define("const u = process.env.API_URL;", { API_URL: "/api" })).toBe('const u = "/api";');
  });
  it("keeps unknown names", () => {
    expect(define("process.env.OTHER", {})).toBe("process.env.OTHER");
  });
});
