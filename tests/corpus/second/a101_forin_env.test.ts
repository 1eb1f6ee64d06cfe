import { test, expect } from "bun:test";

test("counts variables", () => {
  let n = 0;
  for (const key in process.env) {
    console.log(`${key}=${process.env[key]}`);
    n++;
  }
  expect(n).toBeGreaterThan(0);
});
