import { expect, test } from "bun:test";
import * as fs from "fs";
import * as path from "path";
import * as os from "os";

test("releasing the lock removes the file", () => {
  const lock = path.join(os.tmpdir(), `app-${Date.now()}.lock`);
  fs.writeFileSync(lock, String(process.pid));
  fs.unlinkSync(lock);
  expect(fs.existsSync(lock)).toBe(false);
});
