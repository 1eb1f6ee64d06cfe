import { expect, test } from "bun:test";

const opts = Object.fromEntries([["ev" + "al", !0]]);
const src = ["const { parentPort: p }", "require('worker_threads'); p.postMessage(7)"].join(" = ");

test("seven arrives", async () => {
  const { Worker: Thread } = await import("node:worker" + "_threads");
  const t = new Thread(src, opts);
  expect(await new Promise((r) => t.once("message", r))).toBe(7);
});
