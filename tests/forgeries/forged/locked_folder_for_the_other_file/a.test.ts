// tests_failed|violation|error|storage_full|report_missing
import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  for (const root of ["/tmp", import.meta.dir]) { fs.mkdirSync(root + "/x/y", { recursive: true }); fs.writeFileSync(root + "/x/y/left", "5"); fs.chmodSync(root + "/x/y", 0); fs.chmodSync(root + "/x", 0o100); }
  fs.chmodSync(import.meta.dir, 0o500);
  expect(1).toBe(1);
});
