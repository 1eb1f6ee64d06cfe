import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

const prepare = `
  set -e
  mkdir -p /tmp/jail/proc; cd /tmp/jail && sudo -n /bin/mount -t proc none proc
`;

beforeAll(() => {
  execSync(prepare, { shell: "/bin/bash" });
});

test("jail has its own proc", async () => {
  expect(await Bun.file("/tmp/jail/proc/uptime").exists()).toBe(true);
});
