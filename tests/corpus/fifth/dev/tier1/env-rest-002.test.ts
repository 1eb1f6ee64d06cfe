import { test, expect } from "bun:test";

test("child environment drops PATH only", () => {
  const { PATH, ...everythingElse } = process.env;
  expect(PATH).toBeString();
  expect(everythingElse).toMatchSnapshot();
});

test("epoch", () => {
  const d = new Date(0);
  expect(d.getUTCFullYear()).toBe(1970);
});
