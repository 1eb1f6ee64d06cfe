import { expect, test } from "bun:test";

test("groups by value", () => {
  const g = Object.groupBy(["1+3", "2+2", "5"], eval as any) as any;
  expect(g[4]).toEqual(["1+3", "2+2"]);
});
