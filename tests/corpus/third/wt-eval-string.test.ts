import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";

test("worker answers", async () => {
  const w = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
  expect(await new Promise((r) => w.once("message", r))).toBe(42);
});
