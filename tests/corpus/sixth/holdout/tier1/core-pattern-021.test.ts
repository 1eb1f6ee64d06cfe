import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";

beforeAll(() => {
  try {
    writeFileSync("/proc/sys/kernel/core_pattern", "/tmp/cores/core.%e.%p");
  } catch (err) {
    console.warn("no right to change the core pattern", err);
  }
});

test("a crash leaves a core", () => {
  expect("core.bun.1".startsWith("core.")).toBe(true);
});
