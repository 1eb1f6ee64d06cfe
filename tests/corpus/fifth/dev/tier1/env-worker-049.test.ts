import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";

test("worker echoes its settings", async () => {
  const body = "const t=require('node:worker_threads');t.parentPort.postMessage({...process.env})";
  const w = new Worker(body, { eval: true, env: process.env as any });
  const msg = await new Promise((r) => w.once("message", r));
  await w.terminate();
  expect(msg).toHaveProperty("PATH");
});
