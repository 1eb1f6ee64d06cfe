import { expect, test } from "bun:test";

test("worker adds", async () => {
  const src = "onmessage = (e) => postMessage(e.data[0] + e.data[1]);";
  const url = URL.createObjectURL(new Blob([src], { type: "application/javascript" }));
  const w = new Worker(url);
  const sum = await new Promise((ok) => { w.onmessage = (e) => ok(e.data); w.postMessage([2, 3]); });
  w.terminate();
  expect(sum).toBe(5);
});
