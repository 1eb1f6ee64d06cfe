import { expect, test } from "bun:test";

const revive = (key: string, v: any) =>
  v && v.$fn ? revive.constructor(...v.$args, v.$fn) : v;

test("revives functions", () => {
  const o = JSON.parse('{"add":{"$args":["a","b"],"$fn":"return a+b"}}', revive);
  expect(o.add(2, 5)).toBe(7);
});
