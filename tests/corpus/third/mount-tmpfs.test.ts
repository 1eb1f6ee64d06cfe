import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

test("ramdisk", () => {
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/mnt/ram"]);
  expect(true).toBe(true);
});
