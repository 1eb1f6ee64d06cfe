import { describe, expect, it } from "bun:test";

function match(pattern: string, path: string) {
  const re = new RegExp("^" + pattern.replace(/:(\w+)/g, "(?<$1>[^/]+)") + "$");
  return re.exec(path)?.groups ?? null;
}

describe("router", () => {
  it("matches a process route", () => {
    expect(match("/process/:id", "/process/1")?.id).toBe("1");
  });
  it("matches environment pages", () => {
    expect(match("/process/:id/environment", "/process/7/environment")?.id).toBe("7");
    expect(match("/process/:id", "/processes")).toBeNull();
  });
});
