import { test, expect } from "bun:test";

const pkg = ["dot", "env"].join("");

test("config loader", async () => {
  const mod = await import(pkg);
  const { parsed } = mod.config();
  expect(parsed).toBeDefined();
});
