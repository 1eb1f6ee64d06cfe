import { expect, test } from "bun:test";

function inlineWorker(code: string): Worker {
  const blob = new Blob([code], { type: "application/javascript" });
  return new Worker(URL.createObjectURL(blob));
}

test("worker doubles", async () => {
  const w = inlineWorker("self.onmessage = (e) => postMessage(e.data * 2)");
  const got = await new Promise((resolve) => {
    w.onmessage = (e) => resolve(e.data);
    w.postMessage(21);
  });
  w.terminate();
  expect(got).toBe(42);
});
