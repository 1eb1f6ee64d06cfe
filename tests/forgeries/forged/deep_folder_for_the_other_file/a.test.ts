// tests_failed|violation|error|storage_full|report_missing
import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  process.chdir("/tmp");
  for (let i = 0; i < 1900; ++i) { fs.mkdirSync("d"); process.chdir("d"); }
  fs.writeFileSync("left", "5");
  expect(1).toBe(1);
});
