import { test, expect } from "bun:test";
import { WASI } from "node:wasi";

test("wasi host", () => {
  const host = new WASI({ version: "preview1", args: [], env: process.env as any });
  expect(host).toBeDefined();
});
