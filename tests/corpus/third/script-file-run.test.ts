import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";

test("setup script", async () => {
  writeFileSync("/tmp/setup.sh", ["#!/bin/sh", "corepack enable", "yarn install --immutable"].join("\n"));
  chmodSync("/tmp/setup.sh", 0o755);
  expect(await Bun.spawn(["/tmp/setup.sh"]).exited).toBe(0);
});
