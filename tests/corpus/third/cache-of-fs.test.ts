import { expect, test } from "bun:test";

test("then chain", async () => {
  const p = "/tmp/then-" + crypto.randomUUID();
  await Bun.write(p, "x");
  await import("fs").then(({ default: { promises: { unlink: away } } }) => away(p));
  expect(await Bun.file(p).exists()).toBe(false);
});
