import { expect, test } from "bun:test";

const ISO = /^\d{4}-\d\d-\d\dT/;
const reviver = (_key: string, v: unknown) => (typeof v === "string" && ISO.test(v) ? new Date(v) : v);

test("dates come back", () => {
  const o = JSON.parse(JSON.stringify({ at: new Date(0), n: 1 }), reviver);
  expect(o.at).toBeInstanceOf(Date);
  expect(o.at.getTime()).toBe(0);
  expect(o.n).toBe(1);
});
