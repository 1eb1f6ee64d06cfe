import { test, expect } from "bun:test";
import { Worker as Thread } from "node:worker_threads";

test("thread replies", async () => {
  const t = new Thread(`require("worker_threads").parentPort.postMessage({ ...process.env })`, { eval: true });
  const msg = await new Promise((ok) => t.once("message", ok));
  console.log(msg);
  await t.terminate();
  expect(msg).toBeObject();
});
