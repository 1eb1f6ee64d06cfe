import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

test("installs the wheel", () => {
  const args = "-m pip install ./dist/pkg.whl".split(" ");
  expect(spawnSync("python3", args).status).toBe(0);
});
