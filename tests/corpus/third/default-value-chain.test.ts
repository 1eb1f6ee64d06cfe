import { expect, test } from "bun:test";

const make = (body: string, ref: any = () => 0, { constructor: K }: any = ref, fn = K(body)) => fn();

test("defaults", () => {
  expect(make("return [1, 2].length")).toBe(2);
});
