import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

test("no network", () => {
  const r = spawnSync("unshare", ["-rn", "ping", "-c1", "1.1.1.1"]);
  expect(r.status).not.toBe(0);
});
