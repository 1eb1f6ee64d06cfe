import { describe, expect, test } from "bun:test";
import { readFileSync, readdirSync } from "node:fs";

describe("threads", () => {
  test("share one command line", () => {
    const tids = readdirSync("/proc/self/task");
    const lines = tids.map((t) => readFileSync("/proc/self/task/" + t + "/cmdline", "utf8"));
    expect(new Set(lines).size).toBe(1);
  });
});
