import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dir = mkdtempSync(join(tmpdir(), "store-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("round trip", () => {
  const file = join(dir, "state.json");
  writeFileSync(file, JSON.stringify({ count: 3 }));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ count: 3 });
});
