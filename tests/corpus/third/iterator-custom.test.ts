import { expect, test } from "bun:test";

class Range {
  constructor(private a: number, private b: number, private step = 1) {}
  *[Symbol.iterator]() {
    for (let i = this.a; i < this.b; i += this.step) yield i;
  }
  [Symbol.toPrimitive](hint: string) {
    return hint === "number" ? this.b - this.a : `${this.a}..${this.b}`;
  }
}

test("range", () => {
  const r = new Range(0, 10, 3);
  expect([...r]).toEqual([0, 3, 6, 9]);
  const [first, ...rest] = r;
  expect(first).toBe(0);
  expect(rest).toHaveLength(3);
  expect(`${r}`).toBe("0..10");
  expect(+(r as any)).toBe(10);
});
