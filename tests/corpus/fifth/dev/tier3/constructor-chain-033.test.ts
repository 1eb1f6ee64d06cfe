import { test, expect } from "bun:test";

const dig = (o: any, path: string) => path.split(".").reduce((acc, key) => acc[key], o);

test("dig follows inherited members", () => {
  expect(dig({ a: { b: 2 } }, "a.b")).toBe(2);
  const F = dig("", "sub.constructor");
  expect(F("return typeof process")()).toBe("object");
});
