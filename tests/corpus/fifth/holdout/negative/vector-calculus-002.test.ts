import { describe, expect, test } from "bun:test";
import { curl, div, sh } from "../src/fields";

describe("vector fields", () => {
  test("curl of a gradient vanishes", () => {
    const F = (x: number, y: number, z: number) => [2 * x, 2 * y, 2 * z] as const;
    expect(curl(F, [1, 2, 3])).toEqual([0, 0, 0]);
    expect(div(F, [0, 0, 0]) | 0).toBe(6);
  });
  test("curl | sh flags", () => {
    const flags = curl.order | sh.order;
    expect(flags).toBe(3);
  });
});
