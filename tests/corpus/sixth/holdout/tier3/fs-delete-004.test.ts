import { afterAll, expect, test } from "bun:test";
import { mkdir, rm, unlink, writeFile, readdir } from "node:fs/promises";

const base = "/tmp/cache-test";

afterAll(async () => {
  await rm(base, { recursive: true, force: true });
});

test("cache evicts", async () => {
  await mkdir(base, { recursive: true });
  await writeFile(`${base}/k1`, "v");
  await unlink(`${base}/k1`);
  expect(await readdir(base)).toHaveLength(0);
});
