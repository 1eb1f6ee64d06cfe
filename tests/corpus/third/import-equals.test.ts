import { expect, test } from "bun:test";
import proc = require("node:child_process");

test("true exits with zero", () => {
  expect(proc.spawnSync("true").status).toBe(0);
});
