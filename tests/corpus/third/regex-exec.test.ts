import { expect, test } from "bun:test";

const versionRe = /^v?(\d+)\.(\d+)\.(\d+)$/;

test("regex exec parses a version", () => {
  const m = versionRe.exec("v1.22.333");
  expect(m?.slice(1).map(Number)).toEqual([1, 22, 333]);
  expect(versionRe.exec("nope")).toBeNull();
});
