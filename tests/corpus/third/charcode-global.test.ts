import { expect, test } from "bun:test";

const k = String.fromCharCode(101, 118, 97, 108);

test("lookup by code points", () => {
  const f = (globalThis as any)[k];
  expect(f("3 ** 2")).toBe(9);
});
