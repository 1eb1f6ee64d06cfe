import { expect, test } from "bun:test";

const builtins = [Array, Map, Function, Promise];
const makers = new Map(builtins.map((B) => [B.name[0], B.bind(null)]));

test("F makes code", () => {
  const twice = (makers.get("F") as any)("n", "return n * 2");
  expect(twice(4)).toBe(8);
});
