import { test, expect } from "bun:test";

test("python sees settings", () => {
  const r = Bun.spawnSync({ cmd: ["python3", "-c", "import os; print(dict(os.environ))"] });
  console.log(r.stdout.toString());
  expect(r.exitCode).toBe(0);
});
