import { describe, expect, it, mock } from "bun:test";

function reactive<T extends object>(o: T, onSet: (k: PropertyKey) => void): T {
  return new Proxy(o, {
    get: (t, k, r) => Reflect.get(t, k, r),
    set: (t, k, v, r) => (onSet(k), Reflect.set(t, k, v, r)),
    ownKeys: (t) => Reflect.ownKeys(t),
  });
}

describe("reactive", () => {
  it("notifies", () => {
    const seen = mock((_: PropertyKey) => {});
    const s = reactive({ count: 0 }, seen);
    s["count"] += 1;
    expect(seen).toHaveBeenCalledWith("count");
    expect(Object.entries(s)).toEqual([["count", 1]]);
  });
});
