import { expect, test } from "bun:test";

class Vec {
  constructor(public x = 0, public y = 0) {}
  clone(): this {
    const C = this.constructor as new (x: number, y: number) => this;
    return new C(this.x, this.y);
  }
}
class NamedVec extends Vec {
  label = "named";
}

test("clone keeps the subclass", () => {
  const v = new NamedVec(1, 2).clone();
  expect(v).toBeInstanceOf(NamedVec);
  expect(v).toEqual(Object.assign(new NamedVec(1, 2)));
});

test("species", () => {
  const { constructor } = new Vec(3, 4);
  expect(constructor).toBe(Vec);
});
