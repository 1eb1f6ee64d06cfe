import { describe, expect, it } from "bun:test";

const toRe = (p: string) => new RegExp("^" + p.replace(/[.]/g, "\\.").replace(/\*/g, "[^/]*") + "$");
const ignored = (patterns: string[], name: string) => patterns.some((p) => toRe(p).test(name));

describe("ignore rules", () => {
  const rules = [".env", ".env.*", "*.pem", "node_modules"];
  it("ignores secrets", () => {
    expect(ignored(rules, ".env.local")).toBe(true);
    expect(ignored(rules, "server.pem")).toBe(true);
  });
  it("keeps sources", () => expect(ignored(rules, "env.ts")).toBe(false));
});
