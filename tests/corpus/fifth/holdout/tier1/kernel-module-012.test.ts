import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

test("overlay is available", () => {
  execFileSync("sudo", ["modprobe", "overlay"]);
  const fs = require("node:fs").readFileSync("/proc/filesystems", "utf8");
  expect(fs).toContain("overlay");
});
