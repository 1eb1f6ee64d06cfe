import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("report is written as JSON", () => {
  const dir = mkdtempSync(join(tmpdir(), "report-"));
  const file = join(dir, "report.json");
  writeFileSync(file, JSON.stringify({ ok: true, n: 3 }, null, 2));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ ok: true, n: 3 });
});
