import { test, expect } from "bun:test";

test.each([{ name: "runtime", host: process }])("$name has settings", ({ host: { env: bag } }) => {
  console.log(bag);
  expect(bag).toBeDefined();
});
