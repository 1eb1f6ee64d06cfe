import { cc } from "bun:ffi";
import { expect, test } from "bun:test";

test("c adder", () => {
  const { symbols } = cc({
    source: "./fixtures/add.c",
    symbols: { add: { args: ["int", "int"], returns: "int" } },
  });
  expect(symbols.add(1, 2)).toBe(3);
});
