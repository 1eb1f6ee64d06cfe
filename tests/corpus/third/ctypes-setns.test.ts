import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const py = [
  "import ctypes, os",
  "libc = ctypes.CDLL(None)",
  "libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
].join("\n");

test("namespace", () => {
  expect(spawnSync("python3", ["-c", py]).status).toBe(0);
});
