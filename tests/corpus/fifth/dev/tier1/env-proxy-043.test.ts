import { describe, expect, test } from "bun:test";

const host = new Proxy(process, {
  get: (t, p) => Reflect.get(t, typeof p === "string" ? p.toLowerCase() : p),
}) as any;

describe("host facade", () => {
  test("gives the same object whatever the case", () => {
    const seen = { ...host.ENV };
    expect(Object.keys(seen)).toEqual(Object.keys(host.Env));
  });
});
