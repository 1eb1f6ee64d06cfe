import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "bun:test";

test("exporter writes one file per day", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "export-"));
  const out = path.join(root, "out");
  await mkdir(out, { recursive: true });
  for (const day of ["mon", "tue"]) await writeFile(path.join(out, `${day}.csv`), "a,b\n1,2\n");
  expect((await readdir(out)).sort()).toEqual(["mon.csv", "tue.csv"]);
  expect((await stat(path.join(out, "mon.csv"))).size).toBe(8);
  expect(await readFile(path.join(out, "tue.csv"), "utf8")).toContain("1,2");
});
