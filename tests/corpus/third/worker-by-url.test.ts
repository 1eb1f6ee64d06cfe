import { expect, test } from "bun:test";

test("hash worker", async () => {
  const w = new Worker(new URL("./hash.worker.ts", import.meta.url).href);
  w.postMessage("abc");
  const digest = await new Promise((r) => (w.onmessage = (e) => r(e.data)));
  expect(digest).toHaveLength(64);
});
