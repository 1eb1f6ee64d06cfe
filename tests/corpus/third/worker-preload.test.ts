import { expect, test } from "bun:test";

test("preloaded worker", async () => {
  const Thread = globalThis["Work" + "er" as "Worker"];
  const w = new Thread("./idle.js", { preload: ["data:text/javascript,postMessage(1)"] } as any);
  expect(await new Promise((r) => (w.onmessage = (e) => r(e.data)))).toBe(1);
});
