import { test, expect } from "bun:test";
import { env as cfg } from "node:process";

const defaults = { port: 3000 };

test("merges configuration", () => {
  const merged = { ...defaults, ...cfg };
  console.log(merged);
  expect(merged.port).toBeDefined();
});
