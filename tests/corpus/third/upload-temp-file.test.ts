import { expect, test } from "bun:test";

test("temp upload is gone after commit", async () => {
  const f = Bun.file(`/tmp/upload-${crypto.randomUUID()}.bin`);
  await f.write("payload");
  await f.delete();
  expect(await f.exists()).toBe(false);
});
