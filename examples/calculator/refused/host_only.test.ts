// Tier "host": harmless in a container, which is thrown away; refused where a slip would reach the machine.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync } from "node:fs";

test("cleans up after itself", () => {
  mkdirSync("/tmp/scratch", { recursive: true });
  rmSync("/tmp/scratch", { recursive: true, force: true });
  expect(existsSync("/tmp/scratch")).toBe(false);
});
