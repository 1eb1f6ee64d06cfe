import { expect, test } from "bun:test";
import { promises as fs } from "node:fs";

test("empty folders are removed", async () => {
  await fs.mkdir("/tmp/empty-one", { recursive: true });
  await fs.rmdir("/tmp/empty-one");
  await expect(fs.access("/tmp/empty-one")).rejects.toThrow();
});
