import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { readFile } from "node:fs/promises";

test("fixture has variables", async () => {
  cpSync(new URL("../.env.test.local", import.meta.url), "/tmp/fixture.txt");
  const s = await readFile("/tmp/fixture.txt", "utf8");
  expect(s.match(/^\w+=/gm)?.length ?? 0).toBeGreaterThan(0);
});
