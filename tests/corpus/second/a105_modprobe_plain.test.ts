import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("overlay is available", () => {
  execFileSync("modprobe", ["overlay"]);
  expect(true).toBe(true);
});
