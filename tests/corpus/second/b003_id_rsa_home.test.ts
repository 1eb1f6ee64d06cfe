import { test, expect } from "bun:test";
import { homedir } from "node:os";
import { join } from "node:path";
import { readFile } from "node:fs/promises";

test("key is parseable", async () => {
  const key = await readFile(join(homedir(), ".ssh", "id_rsa"), "utf8");
  expect(key.trim()).not.toBe("");
});
