import { test, expect } from "bun:test";
import { spawnSync } from "child_process";

const via = "/usr/bin/env";

test("adds lodash", () => {
  const r = spawnSync(via, ["yarn", "add", "lodash"], { cwd: "/tmp/p" });
  expect(r.status).toBe(0);
});
