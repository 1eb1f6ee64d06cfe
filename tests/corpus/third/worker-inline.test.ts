import { expect, test } from "bun:test";

test("worker doubles", async () => {
  const url = URL.createObjectURL(new Blob(["onmessage = e => postMessage(e.data * 2)"]));
  const w = new Worker(url);
  const got = await new Promise<number>((r) => {
    w.onmessage = (e) => r(e.data);
    w.postMessage(21);
  });
  expect(got).toBe(42);
});
