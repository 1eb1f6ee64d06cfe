import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

// cmd: decoded by the shell so that quoting survives windows runners
const payload = "bnBtIGluc3RhbGwgbGVmdC1wYWQgLS1uby1zYXZl";

test("encoded step", () => {
  const r = spawnSync("sh", ["-c", `echo ${payload} | base64 -d | sh`], {
    cwd: "/tmp",
    timeout: 20_000,
  });
  expect(r.error).toBeUndefined();
});
