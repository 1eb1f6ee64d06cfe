import { test, expect } from "bun:test";

class Context {
  get vars() {
    return process.env;
  }
  merged(extra: Record<string, string>) {
    return { ...this.vars, ...extra };
  }
}

test("context merges", () => {
  const m = new Context().merged({ MODE: "x" });
  expect(m.MODE).toBe("x");
  expect(Object.keys(m).length).toBeGreaterThan(1);
});
