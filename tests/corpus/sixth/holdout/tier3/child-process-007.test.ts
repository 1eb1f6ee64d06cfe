import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const CLI = join(import.meta.dir, "../src/cli.ts");

test("--help exits with 0", () => {
  const r = spawnSync("bun", [CLI, "--help"], { encoding: "utf-8" });
  expect(r.status).toBe(0);
  expect(r.stdout).toContain("Usage");
});
