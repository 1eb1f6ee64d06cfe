import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let dir = "";
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

test("cache writes an index file", () => {
  dir = mkdtempSync(join(tmpdir(), "cache-"));
  writeFileSync(join(dir, "index.json"), "{}");
  expect(existsSync(join(dir, "index.json"))).toBe(true);
});
