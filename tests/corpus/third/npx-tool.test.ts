import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

test("types check", () => {
  expect(spawnSync("npx", ["tsc", "--noEmit"]).status).toBe(0);
});
