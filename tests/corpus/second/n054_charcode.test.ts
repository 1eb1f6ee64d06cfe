import { expect, test } from "bun:test";

const shift = (s: string, n: number) =>
  s.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + n + 26) % 26) + 97));

test("round trip", () => {
  expect(shift("hello", 3)).toBe("khoor");
  expect(shift(shift("environment", 5), -5)).toBe("environment");
});
