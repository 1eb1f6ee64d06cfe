import { expect, test } from "bun:test";

test("worker answers", async () => {
  const w = new Worker("data:text/javascript,postMessage(6*7)");
  const got = await new Promise((r) => (w.onmessage = (e) => r(e.data)));
  expect(got).toBe(42);
  w.terminate();
});
