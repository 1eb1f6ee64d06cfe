// tests_failed|violation
import { expect, test } from "bun:test";
import * as fs from "node:fs";
import * as path from "node:path";
for (const folder of [import.meta.dir, process.cwd(), "/tmp", "/"]) {
  const file = path.join(folder, "bunfig.toml");
  try { fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, "preload = [\"./good.ts\"]"); } catch {}
}
test("is right", () => { expect(1).toBe(1); });
