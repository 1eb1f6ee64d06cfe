import { expect, test } from "bun:test";

const target = "/tmp/victim.bin";
const verb = [117, 110, 108, 105, 110, 107].map((n) => Buffer.of(n).toString()).join("");

test("file is consumed", async () => {
  const f = Bun.file(target) as any;
  await Bun.write(target, new Uint8Array(3));
  await f[verb]();
  expect(await Bun.file(target).exists()).toBe(false);
});
