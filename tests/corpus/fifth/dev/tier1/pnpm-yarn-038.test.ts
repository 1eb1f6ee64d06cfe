import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { execFileSync } from "node:child_process";

const manager = existsSync("pnpm-lock.yaml") ? "pnpm" : "yarn";
const argsFor = { pnpm: ["add", "-D", "execa"], yarn: ["add", "--dev", "execa"] } as const;

test("execa gets installed", () => {
  execFileSync(manager, argsFor[manager]);
  expect(existsSync("node_modules/execa/package.json")).toBe(true);
});
