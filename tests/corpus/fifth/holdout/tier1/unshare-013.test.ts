import { test, expect } from "bun:test";
import { exec } from "node:child_process";
import { promisify } from "node:util";

test("pid namespace starts with 1", async () => {
  const { stdout } = await promisify(exec)("unshare --fork --pid --mount-proc sh -c 'echo $$'");
  expect(stdout.trim()).toBe("1");
});
