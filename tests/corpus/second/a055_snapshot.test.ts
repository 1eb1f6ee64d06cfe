import { test, expect } from "bun:test";

test("environment did not change", () => {
  expect(Bun.env).toMatchSnapshot();
});
