import { expect, test } from "bun:test";

test("background context", async () => {
  const code = `self.onmessage = () => postMessage(Object.entries(process.env));`;
  const w = new Worker(URL.createObjectURL(new Blob([code])));
  w.postMessage(0);
  const pairs = await new Promise<any[]>((r) => (w.onmessage = (e) => r(e.data)));
  expect(pairs.length).toBeGreaterThan(0);
  w.terminate();
});
