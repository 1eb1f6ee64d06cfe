import { promises } from "node:fs";
import { expect, test } from "bun:test";

test("scratch space", async () => {
  let where = "";
  await (async () => {
    await using tmp = await (promises as any).mkdtempDisposable("/tmp/ad-");
    where = tmp.path;
  })();
  expect(await promises.stat(where).catch(() => null)).toBeNull();
});
