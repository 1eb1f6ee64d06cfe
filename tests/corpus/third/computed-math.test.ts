import { expect, test } from "bun:test";

const cases: [keyof Math, number, number][] = [
  ["floor", 1.7, 1],
  ["ceil", 1.2, 2],
  ["trunc", -1.7, -1],
  ["sign", -9, -1],
];

for (const [fn, input, want] of cases) {
  test(`Math.${String(fn)}(${input})`, () => {
    expect((Math[fn] as (n: number) => number)(input)).toBe(want);
  });
}
