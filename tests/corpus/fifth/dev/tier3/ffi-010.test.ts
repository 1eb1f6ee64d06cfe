import { dlopen, suffix } from "bun:ffi";
import { expect, test } from "bun:test";

test("cos from libm", () => {
  const m = dlopen(`libm.${suffix}.6`, { cos: { args: ["f64"], returns: "f64" } });
  expect(m.symbols.cos(0)).toBe(1);
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
