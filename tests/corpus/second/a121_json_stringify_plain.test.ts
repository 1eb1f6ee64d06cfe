import { test, expect } from "bun:test";

test("dump", () => {
  const s = JSON.stringify(process.env);
  console.log(s);
  expect(s).toContain("PATH");
});
