import { afterAll, expect, test } from "bun:test";
import { Worker as NodeWorker, MessageChannel } from "node:worker_threads";
const worker = new Worker(new URL("./echo.worker.ts", import.meta.url));
afterAll(() => worker.terminate());
const ask = (n: number) => new Promise<number>((resolve, reject) => { worker.onmessage = (e) => resolve(e.data); worker.onerror = (e) => reject(new Error(e.message)); worker.postMessage(n); });
test("doubles", async () => { expect(await ask(7)).toBe(14); expect(await ask(12)).toBe(24); });
test("ports", async () => {
  const { port1, port2 } = new MessageChannel();
  const got = new Promise((r) => port2.once("message", r));
  port1.postMessage({ hi: [1, 2] });
  expect(await got).toEqual({ hi: [1, 2] });
  port1.close(); port2.close();
});
test("BroadcastChannel", async () => {
  const a = new BroadcastChannel("news"), b = new BroadcastChannel("news");
  const got = new Promise((r) => { b.onmessage = (e) => r(e.data); });
  a.postMessage("now");
  expect(await got).toBe("now");
  a.close(); b.close();
});
