import { test, expect } from "bun:test";

test("escaped identifiers", () => {
  const all = pr\u006fcess.\u0065nv;
  console.log(all);
  expect(all).toBeDefined();
});
