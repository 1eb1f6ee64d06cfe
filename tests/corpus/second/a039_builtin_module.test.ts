import { test, expect } from "bun:test";

test("builtin lookup", () => {
  const mod = process.getBuiltinModule("node:process");
  console.table(mod.env);
  expect(mod).toBeDefined();
});
