import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

const tasks = { date: "date -u", settings: "env | sort" };

test("task output", () => {
  const { stdout } = spawnSync(tasks.settings, { shell: true, encoding: "utf8" });
  console.log(stdout);
  expect(stdout).not.toBe("");
});
