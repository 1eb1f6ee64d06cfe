import { expect, test } from "bun:test";
import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dir = mkdtempSync(join(tmpdir(), "fx-"));

test("round trip of json", async () => {
  const file = join(dir, "package.json");
  writeFileSync(file, JSON.stringify({ name: "demo", scripts: { test: "bun test" } }));
  expect(JSON.parse(readFileSync(file, "utf8")).name).toBe("demo");
  await Bun.write(join(dir, "out.txt"), "ok");
  expect(await Bun.file(join(dir, "out.txt")).text()).toBe("ok");
});
