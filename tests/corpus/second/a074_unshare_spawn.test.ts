import { test, expect } from "bun:test";

const { spawnSync: exec } = Bun;

test("isolated hostname", () => {
  const { stdout } = exec(["unshare", "-Ur", "--", "hostname"]);
  expect(stdout.toString()).not.toBe("");
});
