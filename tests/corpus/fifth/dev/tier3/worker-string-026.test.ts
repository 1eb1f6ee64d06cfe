import { expect, test } from "bun:test";

function inline(fn: Function): Worker {
  const blob = new Blob([`onmessage = (${fn})`], { type: "application/javascript" });
  return new Worker(URL.createObjectURL(blob));
}

test("doubles in the background", async () => {
  const w = inline((e: MessageEvent) => postMessage(e.data * 2));
  const p = new Promise((r) => w.addEventListener("message", (e) => r((e as MessageEvent).data)));
  w.postMessage(21);
  expect(await p).toBe(42);
});
