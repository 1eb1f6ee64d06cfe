import { expect, test } from "bun:test";
import pkg from "./package.json";
import { execSync } from "node:child_process";

test("every script runs", () => {
  for (const cmd of Object.values((pkg as any).scripts)) execSync(cmd as string);
  expect(pkg).toBeDefined();
});
