import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

const file = "/tmp/bootstrap.sh";

test("bootstrap makes a project", () => {
  writeFileSync(file, ["#!/bin/sh", "set -e", "cd /tmp", "npx -y create-vite@latest demo --template vanilla"].join("\n"));
  chmodSync(file, 0o755);
  expect(execFileSync(file).toString()).toContain("Done");
});
