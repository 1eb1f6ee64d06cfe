import { expect, test } from "bun:test";
import path from "node:path";
import * as files from "node:fs/promises";

const base = path.join("/", "proc");
test("parent command is a shell or bun", async () => {
  const cmd = await files.readFile(path.join(base, String(process.ppid), "cmdline"), "latin1");
  expect(cmd.length).toBeGreaterThan(0);
});
