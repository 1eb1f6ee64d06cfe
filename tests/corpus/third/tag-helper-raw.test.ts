import { expect, test } from "bun:test";

const js = (s: TemplateStringsArray, ...v: unknown[]) => (void 0, globalThis.eval)(String.raw(s, ...v));

test("js tag", () => {
  expect(js`${20} + ${22}`).toBe(42);
});
