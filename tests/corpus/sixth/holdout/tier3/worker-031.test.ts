import { expect, test } from "bun:test";

const source = `postMessage({ ready: true, at: Date.now() })`;
const href = "data:text/javascript," + encodeURIComponent(source);

test("worker announces itself", async () => {
  const worker = new Worker(href, { type: "module" });
  const msg: any = await new Promise((ok, bad) => {
    worker.addEventListener("message", (e) => ok(e.data));
    worker.addEventListener("error", bad);
  });
  worker.terminate();
  expect(msg.ready).toBe(true);
});
