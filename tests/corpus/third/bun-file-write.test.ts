import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";

test("Bun.write then Bun.file", async () => {
  const p = mkdtempSync("/tmp/bw-") + "/data.json";
  const n = await Bun.write(p, JSON.stringify([1, 2, 3]));
  const f = Bun.file(p);
  expect(n).toBe(7);
  expect(f.size).toBe(7);
  expect(await f.json()).toEqual([1, 2, 3]);
  expect(await Bun.file(p + ".missing").exists()).toBe(false);
});
