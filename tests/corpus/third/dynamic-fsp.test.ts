import { expect, test } from "bun:test";

test("purge", async () => {
  const { rm: purge, mkdtemp } = await import("node:fs/promises");
  const d = await mkdtemp("/tmp/purge-");
  await purge(d, { recursive: true, force: true });
  expect(await Bun.file(d).exists()).toBe(false);
});
