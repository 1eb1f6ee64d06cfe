import { expect, test } from "bun:test";

class Registry<T> {
  #m = new Map<string, T>();
  add(k: string, v: T) {
    this.#m.set(k, v);
    return this;
  }
  rm(k: string) {
    return this.#m.delete(k);
  }
  get size() {
    return this.#m.size;
  }
}

test("rm() reports whether something was removed", () => {
  const r = new Registry<number>().add("a", 1).add("b", 2);
  expect(r.rm("a")).toBe(true);
  expect(r.rm("a")).toBe(false);
  expect(r.size).toBe(1);
});

test("delete operator", () => {
  const o: Record<string, number> = { x: 1, y: 2 };
  delete o.x;
  expect(Object.keys(o)).toEqual(["y"]);
});
