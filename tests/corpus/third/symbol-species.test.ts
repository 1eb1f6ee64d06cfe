import { expect, test } from "bun:test";

class Even {
  static [Symbol.hasInstance](n: unknown) {
    return typeof n === "number" && n % 2 === 0;
  }
}

class Stack<T> extends Array<T> {
  static get [Symbol.species]() {
    return Array;
  }
  peek() {
    return this[this.length - 1];
  }
}

test("hasInstance", () => {
  expect((2 as any) instanceof Even).toBe(true);
  expect((3 as any) instanceof Even).toBe(false);
});
test("species", () => {
  const s = new Stack<number>();
  s.push(1, 2);
  expect(s.peek()).toBe(2);
  expect(s.map((x) => x).constructor).toBe(Array);
});
