import { expect, test } from "bun:test";

const shift = (s: string, n: number) =>
  s.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + n + 26) % 26) + 97));
const reverse = (s: string) => s.split("").reverse().join("");

test("caesar", () => {
  expect(shift("hello", 13)).toBe("uryyb");
  expect(shift(shift("zebra", 3), -3)).toBe("zebra");
});
test("palindromes", () => {
  for (const w of ["level", "noon"]) expect(reverse(w)).toBe(w);
});
