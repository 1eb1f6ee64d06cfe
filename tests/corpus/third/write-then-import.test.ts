import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";

test("generated module", async () => {
  const file = mkdtempSync("/tmp/gen-") + "/m.mjs";
  writeFileSync(file, ["export const area = (r) => r * r", "* 3;"].join(" "));
  const m = await import(file);
  expect(m.area(2)).toBe(12);
});
