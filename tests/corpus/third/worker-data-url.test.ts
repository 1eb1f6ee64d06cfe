import { expect, test } from "bun:test";

test("tiny worker", async () => {
  const w = new Worker("data:text/javascript,postMessage(1 + 2)");
  expect(await new Promise((r) => (w.onmessage = (e) => r(e.data)))).toBe(3);
});
