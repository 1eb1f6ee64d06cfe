import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "store-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

test("stores a value", () => {
  writeFileSync(join(dir, "a"), "1");
  expect(readFileSync(join(dir, "a"), "utf8")).toBe("1");
});
