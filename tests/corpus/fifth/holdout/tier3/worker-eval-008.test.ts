import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";

test("prime search in the background", async () => {
  const w = new Worker("require('worker_threads').parentPort.postMessage([2, 3, 5])", { eval: true });
  const primes = await new Promise((res, rej) => w.on("message", res).on("error", rej));
  expect(primes).toEqual([2, 3, 5]);
});
