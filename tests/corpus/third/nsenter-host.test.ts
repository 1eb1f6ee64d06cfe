import { expect, test } from "bun:test";
import cp from "node:child_process";

const enter = ["-t", "1", "-m", "-p", "hostname"];

test("host name", () => {
  expect(cp.spawnSync("sudo", ["nsenter", ...enter]).status).toBe(0);
});
