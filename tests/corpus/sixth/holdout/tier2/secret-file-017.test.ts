import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");
const productionFile = join(root, ".env.production");

function keysOf(file: string): string[] {
  return readFileSync(file, { encoding: "utf8" })
    .split(/\r?\n/)
    .map((l) => l.split("=")[0])
    .filter(Boolean);
}

test("production has a port", () => {
  expect(keysOf(productionFile)).toContain("PORT");
});
