import { test, expect } from "bun:test";

test("child starts", () => {
  const r = Bun.spawnSync(["true"], { env: process.env });
  expect(r.exitCode).toBe(0);
});
