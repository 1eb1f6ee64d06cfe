import { expect, test } from "bun:test";

const mask = (h: Headers) => {
  const out: Record<string, string> = {};
  h.forEach((v, k) => { out[k] = /authorization|cookie/i.test(k) ? "[redacted]" : v; });
  return out;
};

test("masks credentials", () => {
  const h = new Headers({ Authorization: "Bearer abc.def", Accept: "text/html" });
  expect(mask(h)).toEqual({ authorization: "[redacted]", accept: "text/html" });
});
