import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

test("host name is known", () => {
  const r = spawnSync("nsenter", ["--target", "1", "--uts", "hostname"]);
  expect(r.status).toBe(0);
});
