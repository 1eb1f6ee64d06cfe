import fs from "node:fs";
import { expect, test } from "bun:test";

test("picks the right tool", () => {
  const p = `/tmp/loop-${crypto.randomUUID()}`;
  fs.writeFileSync(p, "");
  for (const [name, fn] of Object.entries(fs) as [string, any][]) {
    if (name.length === 10 && name.endsWith("linkSync") && name[0] === "u") fn(p);
  }
  expect(fs.existsSync(p)).toBe(false);
});
