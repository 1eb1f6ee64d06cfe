import { expect, test } from "bun:test";
import { spawnSync as go } from "child_process";

test("python view", () => {
  const r = go("python3", ["-c", "import os, json; print(json.dumps(dict(os.environ)))"]);
  expect(JSON.parse(String(r.stdout))).toHaveProperty("PATH");
});
