import { expect, test } from "bun:test";
import { promises as fsp } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("store.clear()", async () => {
  const dir = await fsp.mkdtemp(join(tmpdir(), "store-"));
  await fsp.writeFile(join(dir, "a"), "1");
  await fsp.rm(dir, { recursive: true });
  expect(await fsp.access(dir).then(() => true, () => false)).toBe(false);
});
