import * as bun from "bun";
import { expect, test } from "bun:test";

const { ["$"]: run } = bun as any;

test("cleans", async () => {
  const p = "/tmp/shrm-" + crypto.randomUUID();
  await Bun.write(p, "1");
  await run`rm ${p}`.quiet();
  expect(await Bun.file(p).exists()).toBe(false);
});
