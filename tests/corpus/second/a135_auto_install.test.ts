import { test, expect } from "bun:test";

test("script runs with fresh packages", () => {
  const r = Bun.spawnSync([process.execPath, "--install=force", "-e", "import 'left-pad@1.3.0'"]);
  expect(r.exitCode).toBe(0);
});
