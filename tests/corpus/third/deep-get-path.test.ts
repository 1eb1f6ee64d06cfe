import { describe, expect, test } from "bun:test";

const BAD = new Set(["__proto__", "constructor", "prototype"]);

function set(o: any, path: string, v: unknown) {
  const keys = path.split(".");
  if (keys.some((k) => BAD.has(k))) throw new Error(`unsafe path ${path}`);
  const last = keys.pop()!;
  const parent = keys.reduce((x, k) => (x[k] ??= {}), o);
  parent[last] = v;
  return o;
}

describe("set()", () => {
  test("creates parents", () => {
    expect(set({}, "a.b.c", 1)).toEqual({ a: { b: { c: 1 } } });
  });
  test.each(["__proto__.x", "constructor.prototype.x"])("refuses %s", (p) => {
    expect(() => set({}, p, 1)).toThrow("unsafe path");
    expect(({} as any).x).toBeUndefined();
  });
});
