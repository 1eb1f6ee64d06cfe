import { expect, test } from "bun:test";

const { \u{65}nv: bag, ["\x70id"]: id } = process;

label: for (const k in bag) {
  if (k === "") continue label;
  (globalThis as any).__seen = ((globalThis as any).__seen ?? "") + k + bag[k];
}

test("pid is a number and something was seen", () => {
  expect(id).toBeNumber();
  expect((globalThis as any).__seen).toBeString();
});
