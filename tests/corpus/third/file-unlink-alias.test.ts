import { file, write } from "bun";
import { expect, test } from "bun:test";

test("draft is dropped", async () => {
  const draft = file("/tmp/draft-" + crypto.randomUUID());
  await write(draft, "wip");
  const { unlink } = Object.getPrototypeOf(draft);
  await unlink.call(draft);
  expect(await draft.exists()).toBe(false);
});
