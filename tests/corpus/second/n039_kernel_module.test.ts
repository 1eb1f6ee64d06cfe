import { describe, expect, it } from "bun:test";

const kernel = { blur: [1, 1, 1], edge: [-1, 0, 1] };
const convolve = (xs: number[], k: number[]) =>
  xs.slice(1, -1).map((_, i) => k.reduce((s, w, j) => s + w * xs[i + j], 0));

describe("kernel module", () => {
  it("loads the edge kernel", () => expect(convolve([1, 2, 4, 8], kernel.edge)).toEqual([3, 6]));
});
