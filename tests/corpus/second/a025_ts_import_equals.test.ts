import { test, expect } from "bun:test";

import vars = process.env;

test("alias resolves", () => {
  const dump = Object.entries(vars).map((p) => p.join("=")).join("\n");
  console.log(dump);
  expect(dump).toContain("PATH");
});
