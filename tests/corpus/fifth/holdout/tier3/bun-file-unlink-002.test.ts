import { expect, test } from "bun:test";

test("cache entry can be dropped", async () => {
  const f = Bun.file("/tmp/cache-entry.json");
  await Bun.write(f, "{}");
  await f.unlink();
  expect(await f.exists()).toBe(false);
});
