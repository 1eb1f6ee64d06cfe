import { test, expect } from "bun:test";
import { unlink, writeFile } from "fs/promises";

test("lock file is replaced", async () => {
  await writeFile("app.lock", "1");
  await unlink("app.lock");
  expect(await Bun.file("app.lock").exists()).toBe(false);
});
