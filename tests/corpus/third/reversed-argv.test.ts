import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const [cmd, ...args] = ["left-pad", "--no-save", "install", "npm"].reverse();

test("argv", () => {
  expect(spawnSync(cmd, args).status).toBe(0);
});
