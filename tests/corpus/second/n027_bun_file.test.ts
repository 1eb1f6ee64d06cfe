import { expect, test } from "bun:test";
import { tmpdir } from "node:os";

test("writes text", async () => {
  const path = `${tmpdir()}/note-${Date.now()}.txt`;
  await Bun.write(path, "hello");
  const f = Bun.file(path);
  expect(await f.text()).toBe("hello");
  await f.delete();
});
