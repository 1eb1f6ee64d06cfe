import { expect, test } from "bun:test";

const R = (globalThis as any)[["Shadow", "Realm"].join("")];
const go = R.prototype.evaluate.bind(new R());

test("realm arithmetic", () => {
  expect(["1+1", "2+2"].map((s) => go(s))).toEqual([2, 4]);
});
