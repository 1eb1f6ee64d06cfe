import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

test("runtime report", () => {
  const r = spawnSync("env");
  expect(r.status).toBe(0);
});
