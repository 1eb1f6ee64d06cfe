import { test, expect } from "bun:test";
import * as cp from "node:child_process";

const isolate = ["unshare"].concat("--user", "--map-root-user", "--mount");

test("suite can run isolated", () => {
  const [cmd, ...args] = [...isolate, "sh", "-c", "id -u"];
  const r = cp.spawnSync(cmd, args);
  expect(r.stdout.toString().trim()).toBe("0");
});
