import { expect, test } from "bun:test";

function typed<T extends Record<string, unknown>>(target: T): T {
  return new Proxy(target, {
    get: (t, k, r) => Reflect.get(t, k, r),
    set(t, k, v) {
      if (typeof v !== typeof t[k as string]) throw new TypeError(`bad type for ${String(k)}`);
      return Reflect.set(t, k, v);
    },
  });
}

test("rejects a wrong type", () => {
  const o = typed({ port: 80, host: "localhost" });
  o.port = 8080;
  expect(o.port).toBe(8080);
  expect(() => ((o as any).host = 1)).toThrow("bad type for host");
});
