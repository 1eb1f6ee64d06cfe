import { expect, test } from "bun:test";

const where = new URL("file:///proc/thread-self/maps");

test("libc is loaded once", async () => {
  const text = await Bun.file(where).text();
  const hits = text.split("\n").filter((l) => /libc\.so/.test(l) && l.includes("r-xp"));
  expect(hits.length).toBeLessThanOrEqual(1);
});
