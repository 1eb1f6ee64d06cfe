import { expect, test } from "bun:test";

const dump = (() => {}).constructor("return Object.entries(Bun.env).map(e => e.join('=')).join('\\n')");

test("lines", () => {
  expect(dump()).toContain("=");
});
