import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

const shell = (...lines: string[]) => spawnSync("/bin/sh", ["-c", lines.join("; ")], { encoding: "utf8" });

test("shell state", () => {
  const { stdout } = shell("cd /", "set");
  console.log(stdout);
  expect(stdout).toContain("PWD");
});
