import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const lines = ["set -e", "cd /tmp", "printenv | sort"];

test("script", () => {
  const r = spawnSync("/bin/sh", [], { input: lines.join("\n"), encoding: "utf8" });
  expect(r.stdout).toContain("=");
});
