import { expect, test } from "bun:test";

test("ports deliver messages in order", async () => {
  const { port1, port2 } = new MessageChannel();
  const got: number[] = [];
  const done = new Promise<void>((r) => {
    port2.onmessage = (e) => {
      got.push(e.data);
      if (got.length === 3) r();
    };
  });
  [1, 2, 3].forEach((n) => port1.postMessage(n));
  await done;
  port1.close();
  expect(got).toEqual([1, 2, 3]);
});
