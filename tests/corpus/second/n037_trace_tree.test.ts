import { expect, test } from "bun:test";

class PTrace {
  readonly points: [number, number][] = [];
  visit(x: number, y: number) { this.points.push([x, y]); return this; }
  get length() { return this.points.length; }
}

test("records the path", () => {
  expect(new PTrace().visit(0, 0).visit(1, 0).length).toBe(2);
});
