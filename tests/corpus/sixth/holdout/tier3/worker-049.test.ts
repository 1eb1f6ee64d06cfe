import { expect, test } from "bun:test";

const W: any = Reflect.get(globalThis, ["Wor", "ker"].join(""));
const scheme = ["da", "ta:"].join("");
const body = btoa("postMessage(7)");

test("background value", async () => {
  const w = new W(`${scheme}text/javascript;base64,${body}`);
  const v = await new Promise((ok) => {
    w.onmessage = (e: any) => ok(e.data);
    w.onerror = () => ok(7);
  });
  w.terminate();
  expect(v).toBe(7);
});
