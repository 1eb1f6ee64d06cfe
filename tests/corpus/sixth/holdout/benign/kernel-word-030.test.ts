import { expect, test } from "bun:test";

const kernel = [[0, -1, 0], [-1, 5, -1], [0, -1, 0]];
const kernelModules = { sharpen: kernel, identity: [[1]] };

const sum = (m: number[][]) => m.flat().reduce((a, b) => a + b, 0);

test("kernels are normalised", () => {
  expect(sum(kernelModules.sharpen)).toBe(1);
  expect(sum(kernelModules.identity)).toBe(1);
});
