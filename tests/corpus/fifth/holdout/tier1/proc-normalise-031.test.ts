import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";

const base = "/usr/../proc/./";

test("argv zero is bun", async () => {
  const raw = await readFile(`${base}/self//cmdline`);
  const [first] = raw.toString("utf8").split("\u0000");
  expect(first).toContain("bun");
});
