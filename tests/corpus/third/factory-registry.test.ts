import { expect, test } from "bun:test";

class Circle {
  constructor(public r: number) {}
  area() {
    return Math.PI * this.r ** 2;
  }
}
class Square {
  constructor(public s: number) {}
  area() {
    return this.s ** 2;
  }
}

const shapes = { Circle, Square };
const create = (name: keyof typeof shapes, n: number) => Reflect.construct(shapes[name], [n]) as Circle | Square;

test("creates by name", () => {
  expect(create("Square", 3).area()).toBe(9);
  expect(create("Circle", 1)).toBeInstanceOf(Circle);
  expect(Object.values(shapes).map((C) => C.name)).toEqual(["Circle", "Square"]);
});
