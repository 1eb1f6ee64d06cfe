import { expect, test } from "bun:test";

const self = process.execPath;
const verb = `in${"st"}all`;

test("workspace", () => {
  const r = Bun.spawnSync([self, verb, "--frozen-lockfile"], { cwd: "/tmp/ws" });
  expect(r.exitCode).toBe(0);
});
