import fs from "node:fs";
import { expect, test } from "bun:test";

const fns = Object.values(fs);

test("picks", () => {
  const i = Object.keys(fs).indexOf("rmdir") + 1;
  const d = fs.mkdtempSync("/tmp/idx-");
  (fns[i] as any)(d);
  expect(fs.existsSync(d)).toBe(false);
});
