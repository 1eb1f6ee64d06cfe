import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFile } from "node:fs/promises";

async function commandOf(pid: number) {
  return (await readFile(join("/proc", String(pid), "cmdline"), "utf8")).split("\0");
}

test("parent is a shell or bun", async () => {
  const argv = await commandOf(process.ppid);
  expect(argv[0]).toMatch(/bun|sh/);
});
