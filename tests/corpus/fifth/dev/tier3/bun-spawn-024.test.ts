import { spawnSync as sh, type SyncSubprocess } from "bun";
import { expect, test } from "bun:test";

const call = (...cmd: string[]): SyncSubprocess => sh({ cmd, stderr: "inherit" });

test("uname says Linux", () => {
  expect(call("uname", "-s").stdout.toString()).toBe("Linux\n");
});
