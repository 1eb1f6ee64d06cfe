import { test, expect } from "bun:test";

test("adds zod", () => {
  const { exitCode } = Bun.spawnSync(["pnpm", "add", "zod"]);
  expect(exitCode).toBe(0);
});
